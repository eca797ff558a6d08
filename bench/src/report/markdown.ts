import { markdownTable } from '@startgrid/cli/table.ts'
import type { Document, Section } from './document.ts'

/** A document in GitHub's Markdown. */

/** Columns of higher priority would make a pull request scroll sideways. */
const WIDEST_PRIORITY = 3

/** As a comment to a pull request. Ends with a line feed. */
export function formatMarkdown(document: Document): string {
  const { finding, subject, warnings, summary, command } = document
  return join([
    `# ${quoted(finding)}`,
    quoted(`${subject}.`),
    warnings.length === 0
      ? ''
      : ['> [!WARNING]', ...warnings.map((warning) => `> - ${quoted(warning)}`)].join('\n'),
    bullets(summary),
    ...sectionsOf(document).map(formatSection),
    fold('The command that repeats it', `\`\`\`sh\n${command}\n\`\`\``),
  ])
}

/** As a part of a page that has a headline: everything unfolded. Ends with a line feed. */
export function formatMarkdownPart(document: Document): string {
  const { subject, summary, command } = document
  return join([
    quoted(`${subject}.`),
    bullets(summary),
    ...sectionsOf(document).map(({ place: _, ...section }) => formatSection(section)),
    `Repeat it: \`${command}\``,
  ])
}

function sectionsOf({ verdicts, sections }: Document): Section[] {
  return [verdicts ?? [], ...sections].flat().filter(({ place }) => place !== 'page')
}

function formatSection({ title, table, notes, place }: Section): string {
  const parts = [table === undefined ? '' : tableOf(table), bullets(notes)].filter((part) => part !== '')
  if (place !== undefined) return fold(quoted(title), parts.join('\n\n'))
  return [`### ${quoted(title)}`, ...parts].join('\n\n')
}

function tableOf({ columns, rows }: NonNullable<Section['table']>): string {
  const escaped = rows.map(({ tone, cells }) => ({
    tone,
    cells: cells.map((text) => quoted(text).replaceAll('|', '\\|')),
  }))
  return markdownTable({ columns, rows: escaped }, WIDEST_PRIORITY)
}

function join(blocks: readonly string[]): string {
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}

function bullets(sentences: readonly string[]): string {
  return sentences.map((sentence) => `- ${quoted(sentence)}`).join('\n')
}

/** GitHub needs the empty line to read Markdown inside HTML. */
function fold(summary: string, body: string): string {
  return `<details>\n<summary>${summary}</summary>\n\n${body}\n\n</details>`
}

/** Findings may quote what a program said: nothing of it is markup, but words between backticks are code. */
function quoted(text: string): string {
  const parts = text.split('`')
  const isWhole = parts.length % 2 === 1
  const plain = (part: string) => part.replace(/[\\<>*_[\]`]/g, '\\$&')
  return isWhole ? parts.map((part, index) => (index % 2 === 1 ? part : plain(part))).join('`') : plain(text)
}
