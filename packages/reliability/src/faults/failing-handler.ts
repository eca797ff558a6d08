import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFramework } from '@startgrid/grid/apps.ts'
import type { Launch, Target } from '@startgrid/grid/launcher.ts'
import { PROBLEM_JSON, problem } from '@startgrid/shared/http/problem.ts'
import type { Fault } from '../fault.ts'
import { failingApp } from '../subject/failing-app.ts'

/** The handler timeout of this test; the apps' default is 20 s. */
const LIMIT_MS = 1_000

/** A much longer limit, for busy machines. */
const PATIENCE_MS = 30_000

interface Failure {
  readonly path: string
  readonly does: string
  /** What the client gets; undefined: a cut connection. */
  readonly status: number | undefined
  /** What its line in the log must tell. */
  readonly cause: string
}

const SECRET = 'secret'
const SILENT = `was silent for ${LIMIT_MS} ms`

const THROWS: Failure = { path: '/throws', does: 'throws', status: 500, cause: SECRET }

const REJECTS: Failure = { path: '/rejects', does: 'rejects', status: 500, cause: SECRET }

const FAILURES: readonly Failure[] = [
  THROWS,
  REJECTS,
  { path: '/breaks', does: 'throws amid its response', status: undefined, cause: SECRET },
  { path: '/breaks/as/a/stream', does: 'sends a body that fails', status: undefined, cause: SECRET },
  { path: '/hangs', does: 'never responds', status: 503, cause: SILENT },
  { path: '/stalls', does: 'stops amid its response', status: undefined, cause: SILENT },
]

const NJS_NOTE =
  'Only handlers that throw or reject are tried: njs has no streams, and NGINX itself ends a handler for which no event is left, with 500. ' +
  'A handler that loops forever holds its NGINX worker.'

const BUN_NOTE =
  'Bun cuts the connection of a body that fails. No wrapper can log the cause: the route must. Bun closes a connection ' +
  'whose body stops after `idleTimeout`, and says nothing. Neither was tried.'

/** Only one handler fails: its client learns nothing else, the log line has the request id, and other clients are served. */
export const failingHandler: Fault = {
  name: 'failing-handler',
  title: 'handler throws, rejects, throws after headers, never responds',
  expected: '500 or 503 problem or a cut connection, one logged line with the id, process alive',
  atOnce: 3,
  async run(subject) {
    const { app } = subject
    const env = { FIXTURE_ROLE: app.role, HANDLER_TIMEOUT_MS: String(LIMIT_MS) }
    const launched = await subject.launch({ env }, failingApp(app))
    if (app.runtime === 'nginx') {
      return { findings: await judgeFailures(launched, [THROWS, REJECTS]), notes: [NJS_NOTE] }
    }
    if (app.runtime === 'bun') {
      const early = FAILURES.filter(({ status }) => status !== undefined)
      return { findings: await judgeFailures(launched, early), notes: [BUN_NOTE] }
    }
    const findings = await judgeFailures(launched, FAILURES)
    const prints = launched.output().split('\n').filter(isText)
    const known = findFramework(app.framework).remarks?.['failing-handler']
    if (prints.length > 0 && known === undefined)
      findings.push(`It prints a line that is not JSON: ${prints[0]}`)
    return { findings, notes: prints.length > 0 && known !== undefined ? [known] : [] }
  },
}

/** Makes every handler fail, one after the other, and looks at what clients and operators see. */
async function judgeFailures(launched: Launch, failures: readonly Failure[]): Promise<string[]> {
  const findings: string[] = []
  for (const failure of failures) {
    const seen = await ask(launched.target, failure.path, idOf(failure.path))
    findings.push(...judgeResponse(failure, seen))
    const next = await ask(launched.target, '/livez', 'next')
    if (next.status !== 200)
      findings.push(`After a handler that ${failure.does}, /livez gives ${next.status}.`)
  }
  await sleep(1_000) // a line may come after the response, and one too many after that
  for (const { path, does, cause } of failures) {
    const lines = linesWith(launched, idOf(path))
    const about = `A handler that ${does} (GET ${path})`
    if (lines.length !== 1) findings.push(`${about}: ${lines.length} lines of the log have the id, not one.`)
    else if (!lines[0]?.includes(cause))
      findings.push(`${about}: the log does not tell the cause: ${lines[0]}`)
  }
  if (launched.child.exitCode !== null)
    findings.push(`The process has ended with ${launched.child.exitCode}.`)
  return findings
}

/** The request id with which it is asked for. */
function idOf(path: string): string {
  return `fails${path.replaceAll('/', '-')}`
}

/** What a client saw, up to the end or the cut. */
interface Seen {
  /** Undefined: the connection was cut before. */
  status: number | undefined
  headers: IncomingHttpHeaders
  body: string
  isWhole: boolean
  isLate: boolean
}

function judgeResponse({ path, does, status }: Failure, seen: Seen): string[] {
  const about = `A handler that ${does} (GET ${path})`
  const findings: string[] = []
  if (`${JSON.stringify(seen.headers)}${seen.body}`.includes(SECRET))
    findings.push(`${about}: the client sees the error: ${seen.body.slice(0, 100)}`)
  if (seen.isLate) return [...findings, `${about}: nothing has ended the response after ${PATIENCE_MS} ms.`]
  if (status === undefined) {
    if (seen.isWhole && seen.status !== 500)
      findings.push(`${about}: the client got ${seen.status} as if the response was whole.`)
    return findings
  }
  if (
    seen.status !== status ||
    seen.headers['content-type']?.split(';')[0] !== PROBLEM_JSON ||
    seen.body !== problem(status)
  )
    findings.push(`${about}: the client got ${seen.status} ${seen.body}, not the problem ${status}.`)
  if (seen.headers['x-request-id'] !== idOf(path)) findings.push(`${about}: the client does not get its id.`)
  return findings
}

async function ask(target: Target, path: string, id: string): Promise<Seen> {
  const seen: Seen = { status: undefined, headers: {}, body: '', isWhole: false, isLate: false }
  const asking = request({ ...target, path, headers: { 'x-request-id': id }, agent: false }).end()
  const deadline = setTimeout(() => {
    seen.isLate = true
    asking.destroy()
  }, PATIENCE_MS)
  try {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    asking.once('response', resolve).on('error', reject)
    const response = await promise
    seen.status = response.statusCode
    seen.headers = response.headers
    for await (const chunk of response.setEncoding('utf8')) seen.body += chunk
    seen.isWhole = response.complete
  } catch {
    // Cut: what came before is in `seen`.
  } finally {
    clearTimeout(deadline)
  }
  return seen
}

/** The lines of the log that have that id. */
function linesWith(launched: Launch, id: string): string[] {
  const pattern = new RegExp(`${id}(?![\\w-])`)
  return launched
    .output()
    .split('\n')
    .filter((line) => pattern.test(line))
}

function isText(line: string): boolean {
  return line !== '' && !line.startsWith('{"level"')
}
