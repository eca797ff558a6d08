import { markdownTable } from '@startgrid/cli/table.ts'
import { type Chart, chartLines } from './chart.ts'
import type { Document, Section } from './document.ts'

/** A document in GitHub's Markdown. */

/** Columns of higher priority would make a pull request scroll sideways. */
const WIDEST_PRIORITY = 3

/**
 * As a comment to a pull request. Ends with a line feed.
 * @param draw for a page, which has room for everything: a chart as markup without blank lines
 */
export function formatMarkdown(document: Document, draw?: (chart: Chart) => string): string {
  const { finding, subject, warnings, chart, summary, sections, command } = document
  return join([
    `# ${quoted(finding)}`,
    line(`${subject}.`),
    warnings.length === 0
      ? ''
      : ['> [!WARNING]', ...warnings.map((warning) => `> - ${line(warning)}`)].join('\n'),
    chart === undefined || draw === undefined ? '' : draw(chart),
    bullets(summary),
    ...sections.map((section) => {
      const { title, isFolded, picture } = section
      const text = bodyOf(section, draw === undefined ? WIDEST_PRIORITY : Number.POSITIVE_INFINITY)
      const body = draw === undefined || picture === undefined ? text : `${text}\n\n${picture}`
      return isFolded ? fold(title, body) : `## ${quoted(title)}\n\n${body}`
    }),
    `## Repeat it\n\n${command.replace(/^/gm, '    ')}`,
  ])
}

const FENCE = '```'

/** As a part of a page that has a headline: everything unfolded, the chart as text. Ends with a line feed. */
export function formatMarkdownPart(document: Document): string {
  const { finding, subject, chart, summary, sections, command } = document
  return join([
    `**${quoted(finding)}.** ${quoted(subject)}.`,
    chart === undefined ? '' : `${FENCE}text\n${chartLines(chart, { columns: 100, color: false })}\n${FENCE}`,
    bullets(summary),
    ...sections.map((section) => `## ${quoted(section.title)}\n\n${bodyOf(plain(section), WIDEST_PRIORITY)}`),
    `Repeat it: \`${command}\``,
  ])
}

/** A comment on a pull request: the finding, what else came out, and the chart. No text of it becomes markup, a link or a mention. */
export function formatComment({ finding, summary, chart }: Document): string {
  return join([
    `**${inert(finding)}**`,
    summary.map((sentence) => `- ${inert(sentence)}`).join('\n'),
    chart === undefined ? '' : `<pre>\n${inert(chartLines(chart, { columns: 80, color: false }))}\n</pre>`,
  ])
}

const LONGEST_COMMENT = 10_000

/** All but letters, digits, decimal points and a few harmless signs as references. */
function inert(text: string): string {
  return text
    .slice(0, LONGEST_COMMENT)
    .replace(/[^\p{L}\p{N} \n/,%.]|(?<!\d)\.|\.(?!\d)/gu, (sign) => `&#${sign.codePointAt(0)};`)
}

/** Without what stands out. */
function plain({ table, ...section }: Section): Section {
  if (table === undefined) return section
  return { ...section, table: { ...table, rows: table.rows.map((row) => ({ ...row, tone: 'plain' })) } }
}

function bodyOf({ table, notes }: Section, priority: number): string {
  return [table === undefined ? '' : tableOf(table, priority), bullets(notes)]
    .filter((part) => part !== '')
    .join('\n\n')
}

const MARKS = { best: '**', void: '~~', plain: '' } as const

function tableOf({ columns, rows }: NonNullable<Section['table']>, priority: number): string {
  const escaped = rows.map(({ tone, cells }) => {
    const [name = '', ...others] = cells.map((text) => quoted(text).replaceAll('|', '\\|'))
    return { tone, cells: [`${MARKS[tone]}${name}${MARKS[tone]}`, ...others] }
  })
  return markdownTable({ columns, rows: escaped }, priority)
}

function join(blocks: readonly string[]): string {
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}

function bullets(sentences: readonly string[]): string {
  return sentences.map((sentence) => `- ${line(sentence)}`).join('\n')
}

/** Inside HTML, GitHub reads Markdown only after an empty line. */
function fold(title: string, body: string): string {
  const text = title.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
  return `<details>\n<summary>${text}</summary>\n\n${body}\n\n</details>`
}

/** What begins a line is no list or heading either. */
function line(text: string): string {
  return quoted(text)
    .replace(/^(\d+)([.)])/, '$1\\$2')
    .replace(/^[#+=|-]/, '\\$&')
}

/** Findings may quote what a program said: nothing of it is markup, but words between backticks are code. */
function quoted(text: string): string {
  const parts = text.replace(/\s+/g, ' ').split('`')
  const isWhole = parts.length % 2 === 1 && !text.includes('``')
  const plainly = (part: string) => part.replace(/[\\<>&*_~[\]`]/g, '\\$&')
  return isWhole
    ? parts.map((part, index) => (index % 2 === 1 ? part : plainly(part))).join('`')
    : plainly(text)
}
