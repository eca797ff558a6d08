import { markdownTable } from '@startgrid/cli/table.ts'
import { capital, plural } from '@startgrid/cli/text.ts'
import { isRace, type Result } from '../model/result.ts'
import { describeWarning } from '../model/warnings.ts'
import { legendOf, titleOf } from './legend.ts'
import {
  describeCluster,
  describeCores,
  describeDriver,
  describeMachine,
  describeNginx,
  describeReach,
  describeSettings,
  describeSource,
  describeVersions,
} from './provenance.ts'
import { gatesText } from './race-table.ts'
import type { Section } from './section.ts'
import { sectionsOf } from './sections.ts'
import { describeFailures, describeSkipped, summarise } from './summary.ts'

/** Columns of higher priority would make a pull request scroll sideways. */
const WIDEST_PRIORITY = 3

/** A result as a pull request comment: GitHub's Markdown, with gates and provenance folded. */
export function formatMarkdown(result: Result): string {
  const blocks = [
    `# ${quoted(titleOf(result))}`,
    result.finishedAt === null ? '**Interrupted: not everything that was planned was measured.**' : '',
    deriveWarnings(result),
    bullets(summarise(result)),
    ...sectionsOf(result).map(formatSection),
    bullets([...describeSkipped(result), ...describeFailures(result)]),
    gatesOf(result),
    fold('How to read it, and where it comes from', provenanceOf(result)),
  ]
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}

function deriveWarnings({ warnings }: Result): string {
  if (warnings.length === 0) return ''
  const lines = warnings.map((warning) => `> - ${quoted(describeWarning(warning))}`)
  return ['> [!WARNING]', ...lines].join('\n')
}

function formatSection({ title, table, notes }: Section): string {
  const cells = table.rows.map(({ tone, cells }) => ({ tone, cells: cells.map(escapeBars) }))
  const body = markdownTable({ columns: table.columns, rows: cells }, WIDEST_PRIORITY)
  return [`### ${quoted(title)}`, body, bullets(notes)].filter((part) => part !== '').join('\n\n')
}

/** Gates that a cell did not pass, with what was found; a line counts the other cells. */
function gatesOf(result: Result): string {
  if (!isRace(result) || result.analysis === null) return ''
  const { analysis } = result
  const cells = analysis.cells.flatMap(({ cell, gates }) => {
    const others = gates.filter(({ verdict }) => verdict === 'failed' || verdict === 'unknown')
    const findings = others.map(({ gate, verdict, finding }) => `  - ${gate}, ${verdict}: ${quoted(finding)}`)
    return others.length === 0 ? [] : [[`- **${cell}**: ${gatesText(gates)}`, ...findings].join('\n')]
  })
  const passed = `- ${analysis.cells.length - cells.length} of ${plural(analysis.cells.length, 'cell')} passed every gate.`
  return fold('Gates', [passed, ...cells].join('\n'))
}

function provenanceOf(result: Result): string {
  const cluster = describeCluster(result)
  const items = [
    legendOf(result),
    `${capital(describeSettings(result))}. ${describeReach(result) ?? ''}`.trimEnd(),
    `${capital(describeDriver(result))}.`,
    `${capital(describeMachine(result))}; ${describeCores(result)}.`,
    ...(cluster === undefined ? [] : [`${cluster}.`]),
    `${capital(describeVersions(result))}; ${describeNginx(result)}.`,
    `${capital(describeSource(result))}.`,
  ]
  return `${bullets(items)}\n\n\`\`\`sh\n${result.command}\n\`\`\``
}

function bullets(sentences: readonly string[]): string {
  return sentences.map((sentence) => `- ${quoted(sentence)}`).join('\n')
}

/** GitHub needs the empty line to read Markdown inside HTML. */
function fold(summary: string, body: string): string {
  return `<details>\n<summary>${summary}</summary>\n\n${body}\n\n</details>`
}

/** Findings may quote what a program said: nothing of it is markup. */
function quoted(text: string): string {
  return text.replace(/[\\<>*_[\]]/g, '\\$&')
}

function escapeBars(text: string): string {
  return quoted(text).replaceAll('|', '\\|')
}
