import { openConnection } from '../http/connection.ts'
import { NoResponse } from '../http/source.ts'
import type { Target } from '../http/target.ts'
import type { Check } from './check.ts'
import { CHECKS } from './checks/index.ts'
import { assetUrls } from './markup.ts'
import { loadPage, type Page } from './page.ts'
import { type Difference, GaveUp, Probe } from './probe.ts'
import type { Capability, Role, Subject } from './subject.ts'

export interface Options {
  target: Target
  role: Role
  /** Capabilities that the app lacks. */
  absent?: readonly Capability[]
  /** A proxy in front compresses pages; default false. */
  compressed?: boolean
  /** Only checks whose name contains this. */
  only?: string
  /** Milliseconds for each response. */
  timeoutMs?: number
  /** The server's log so far, one JSON object per line. Without it the log is not checked. */
  log?: () => string
  signal?: AbortSignal
}

export interface Skipped {
  check: string
  reason: string
}

export interface Report {
  role: Role
  /** Protocol, cipher and ALPN of the first connection; undefined without TLS. */
  tls: string | undefined
  /** Names of checks. */
  passed: string[]
  /** Checks with at least one difference. */
  failed: string[]
  differences: Difference[]
  skipped: Skipped[]
}

/**
 * Checks a server against every line of the contract. All checks run, even if some fail. If the server no longer responds at all, the
 * remaining checks are skipped.
 * @throws {NoResponse} if no server listens there, or when the signal stops the run
 */
export async function checkConformance(options: Options): Promise<Report> {
  const subject = createSubject(options, await loadPage())
  const report: Report = {
    role: subject.role,
    tls: await assertReachable(subject),
    passed: [],
    failed: [],
    differences: [],
    skipped: [],
  }
  let dead = false
  for (const check of CHECKS.filter((candidate) => applies(candidate, options))) {
    const reason = dead ? 'the server no longer responds' : skipReason(check, subject)
    if (reason !== undefined) report.skipped.push({ check: check.name, reason })
    else dead = await runCheck(check, subject, report)
  }
  return report
}

function createSubject(options: Options, page: Page | undefined): Subject {
  const { target, role, absent = [], timeoutMs = 30_000 } = options
  const subject: Subject = {
    target,
    role,
    absent,
    timeoutMs,
    signal: options.signal,
    session: { secure: 'ca' in target && target.ca !== undefined, ids: new Set(), nonces: new Set() },
    page,
    log: options.log,
    assets: () => found,
  }
  let found: Promise<readonly string[]>
  subject.assets = () => (found ??= discoverAssets(subject))
  return subject
}

async function assertReachable(subject: Subject): Promise<string | undefined> {
  const connection = await openConnection(subject.target, subject)
  const { tls } = connection
  connection.destroy()
  return tls
}

/** The assets that the page of an ssr app loads; empty if there is no page. */
async function discoverAssets(subject: Subject): Promise<readonly string[]> {
  if (subject.role !== 'ssr') return []
  try {
    const connection = await openConnection(subject.target, subject)
    const { body } = await connection.exchange({ target: '/' }).finally(() => connection.destroy())
    return assetUrls(body.toString('utf8'))
  } catch (error) {
    if (error instanceof NoResponse) return []
    throw error
  }
}

function applies(check: Check, { role, only = '', log, compressed = false }: Options): boolean {
  if (check.needsCompression && !compressed) return false
  if (check.needsLog && log === undefined) return false
  if (check.roles !== undefined && !check.roles.includes(role)) return false
  return check.name.includes(only)
}

function skipReason({ needs, needsPage }: Check, { absent, page }: Subject): string | undefined {
  if (needs !== undefined && absent.includes(needs)) return `the app has no ${needs}`
  return needsPage && page === undefined ? 'the page to compare with is not built (pnpm build)' : undefined
}

/** Runs one check; says whether the server is gone after it. */
async function runCheck(check: Check, subject: Subject, report: Report): Promise<boolean> {
  const probe = new Probe(subject, check.name)
  const complete = await completes(check, probe)
  const results = probe.differences.length === 0 ? report.passed : report.failed
  results.push(check.name)
  report.differences.push(...probe.differences)
  return !complete && !(await isAlive(subject))
}

async function completes(check: Check, probe: Probe): Promise<boolean> {
  try {
    await check.run(probe)
    return true
  } catch (error) {
    if (error instanceof GaveUp) return false
    if (!(error instanceof NoResponse) || error.failure === 'aborted') throw error
    probe.report('the check itself', { expected: 'a response', received: error.message })
    return false
  }
}

async function isAlive(subject: Subject): Promise<boolean> {
  try {
    const connection = await openConnection(subject.target, subject)
    await connection.exchange({ target: '/livez' }).finally(() => connection.destroy())
    return true
  } catch (error) {
    if (error instanceof NoResponse && error.failure !== 'aborted') return false
    throw error
  }
}
