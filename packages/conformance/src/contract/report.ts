import type { Difference } from './probe.ts'
import type { Report } from './runner.ts'

const WIDTH = 80

/** So many examples of the same difference are shown. */
const EXAMPLES = 3

/** The report for a reader, at 80 columns: one paragraph per kind of difference, and a closing line with the counts. */
export function formatReport(report: Report): string {
  const { passed, failed, skipped, tls } = report
  const counts = `${passed.length} checks passed, ${failed.length} failed, ${skipped.length} skipped`
  const reasons = skipped.map(({ check, reason }) => wrap('- ', `skipped: ${check} (${reason})`))
  const over = tls === undefined ? [] : [tls]
  return [...paragraphs(report.differences), ...reasons, ...over, counts].join('\n')
}

/** The same difference often shows in many responses, such as a header that is missing everywhere: it is told once. */
function paragraphs(differences: readonly Difference[]): string[] {
  const groups = Map.groupBy(differences, ({ expected, received }) => `${expected}\n${received}`)
  return [...groups.values()].map(formatGroup)
}

function formatGroup(group: readonly Difference[]): string {
  const [first] = group
  if (first === undefined) return ''
  const checks = [...new Set(group.map(({ check }) => check))]
  const requests = [...new Set(group.map(({ request }) => request))]
  const lines = [
    ...checks.slice(0, EXAMPLES).map((check) => wrap('x ', check)),
    ...more(checks.length, 'checks'),
    ...requests.slice(0, EXAMPLES).map((request) => wrap('  request:  ', request)),
    ...more(requests.length, 'requests'),
    wrap('  expected: ', first.expected),
    wrap('  received: ', first.received),
    '',
  ]
  return lines.join('\n')
}

function more(count: number, what: string): string[] {
  return count > EXAMPLES ? [`  and ${count - EXAMPLES} more ${what}`] : []
}

/** Breaks at spaces, or anywhere in a word that is longer than the line; what follows is indented like the start. */
function wrap(start: string, text: string): string {
  const room = WIDTH - start.length
  const lines = text.match(new RegExp(`\\S.{0,${room - 1}}(?=\\s|$)|\\S.{0,${room - 1}}`, 'g')) ?? ['']
  return lines
    .map((line, index) => (index === 0 ? start : ' '.repeat(start.length)) + line.trimEnd())
    .join('\n')
}
