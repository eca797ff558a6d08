import { indented } from '@startgrid/cli/text.ts'
import { ask, openConnection } from '@startgrid/wire/client.ts'
import { NoResponse, type Response } from '@startgrid/wire/reader.ts'
import { assets } from './checks/assets.ts'
import { bodies } from './checks/bodies.ts'
import { connections } from './checks/connections.ts'
import { ids } from './checks/ids.ts'
import { log } from './checks/log.ts'
import { page } from './checks/page.ts'
import { routes } from './checks/routes.ts'
import { stream } from './checks/stream.ts'
import { assetUrls } from './markup.ts'
import { type Check, type Difference, GaveUp, Probe, type Subject } from './probe.ts'

/** What `checkConformance` throws. */
export { NoResponse }

/** All checks, in the order of the contract. */
export const CHECKS: readonly Check[] = [
  ...routes,
  ...all(page, { roles: ['ssr'] }),
  ...all(stream, { roles: ['ssr'], needs: 'stream' }),
  ...all(assets, { roles: ['ssr'] }),
  ...bodies,
  ...ids,
  ...connections,
  ...all(log, { needsLog: true }),
]

function all(checks: readonly Check[], conditions: Partial<Check>): Check[] {
  return checks.map((check) => ({ ...conditions, ...check }))
}

type Known = Partial<Pick<Subject, 'absent' | 'timeoutMs' | 'log' | 'signal'>>

export interface Options extends Pick<Subject, 'target' | 'role'>, Known {
  /** A proxy in front compresses pages; default false. */
  compressed?: boolean
  /** Only checks whose name contains this. */
  only?: string
}

interface Report {
  /** Names of checks. */
  passed: string[]
  /** Checks with at least one difference. */
  failed: string[]
  differences: Difference[]
  skipped: { check: string; reason: string }[]
}

/**
 * Checks a server against every line of the contract. All checks run, even if some fail. If the server no longer responds at all, the
 * remaining checks are skipped.
 * @throws {NoResponse} if no server listens there, or when the signal stops the run
 */
export async function checkConformance(options: Options): Promise<Report> {
  const subject = createSubject(options)
  const reached = await openConnection(subject.target, subject)
  reached.destroy()
  const report: Report = { passed: [], failed: [], differences: [], skipped: [] }
  let dead = false
  for (const check of CHECKS.filter((candidate) => applies(candidate, options))) {
    const lacks = check.needs !== undefined && subject.absent.includes(check.needs)
    const reason = dead ? 'the server no longer responds' : `the app has no ${check.needs}`
    if (dead || lacks) report.skipped.push({ check: check.name, reason })
    else dead = await runCheck(check, subject, report)
  }
  return report
}

function createSubject({ target, role, absent = [], timeoutMs = 30_000, log, signal }: Options): Subject {
  const session = {
    secure: 'ca' in target && target.ca !== undefined,
    ids: new Set<string>(),
    nonces: new Set<string>(),
  }
  let page: Promise<Response | undefined> | undefined
  const assets = async () => {
    page ??= get(subject, '/')
    return assetUrls(String((await page)?.body ?? ''))
  }
  const subject: Subject = { target, role, absent, timeoutMs, log, signal, session, assets }
  return subject
}

/** The response to a GET; undefined if there is none. */
async function get(subject: Subject, target: string): Promise<Response | undefined> {
  try {
    return await ask(subject.target, { target }, subject)
  } catch (error) {
    if (error instanceof NoResponse && error.failure !== 'aborted') return undefined
    throw error
  }
}

function applies(check: Check, { role, only = '', log, compressed = false }: Options): boolean {
  if (check.needsCompression && !compressed) return false
  if (check.needsLog && log === undefined) return false
  if (check.roles !== undefined && !check.roles.includes(role)) return false
  return check.name.includes(only)
}

/** Runs one check; says whether the server is gone after it. */
async function runCheck(check: Check, subject: Subject, report: Report): Promise<boolean> {
  const probe = new Probe(subject, check.name)
  let isComplete: true | undefined
  try {
    isComplete = await probe.attempt('the check itself', () => check.run(probe).then(() => true as const))
  } catch (error) {
    if (!(error instanceof GaveUp)) throw error
  }
  const results = probe.differences.length === 0 ? report.passed : report.failed
  results.push(check.name)
  report.differences.push(...probe.differences)
  return !isComplete && (await get(subject, '/livez')) === undefined
}

/** So many examples of the same difference are shown. */
const EXAMPLES = 3

/** The report for a reader, at 80 columns: one paragraph per kind of difference, and a closing line with the counts. */
export function formatReport(report: Report): string {
  const { passed, failed, skipped } = report
  const counts = `${passed.length} checks passed, ${failed.length} failed, ${skipped.length} skipped`
  const reasons = skipped.map(({ check, reason }) => labelled('- ', `skipped: ${check} (${reason})`))
  // The same difference often shows in many responses, such as a header that is missing everywhere: it is told once.
  const groups = Map.groupBy(report.differences, ({ expected, received }) => `${expected}\n${received}`)
  return [...[...groups.values()].flatMap(paragraph), ...reasons, counts].join('\n')
}

function paragraph(group: readonly Difference[]): string[] {
  const checks = [...new Set(group.map(({ check }) => check))]
  const requests = [...new Set(group.map(({ request }) => request))]
  return [
    ...checks.slice(0, EXAMPLES).map((check) => labelled('x ', check)),
    ...more(checks.length, 'checks'),
    ...requests.slice(0, EXAMPLES).map((request) => labelled('  request:  ', request)),
    ...more(requests.length, 'requests'),
    labelled('  expected: ', group[0]?.expected ?? ''),
    labelled('  received: ', group[0]?.received ?? ''),
    '',
  ]
}

function more(count: number, what: string): string[] {
  return count > EXAMPLES ? [`  and ${count - EXAMPLES} more ${what}`] : []
}

/** What follows the first line is indented like its text. */
function labelled(label: string, text: string): string {
  return label + indented(text, ' '.repeat(label.length)).slice(label.length)
}
