import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { App } from '@startgrid/grid/apps.ts'
import type { Startable } from '@startgrid/grid/launcher.ts'
import { createProblem } from '@startgrid/shared/problem.ts'
import { headerValue } from '@startgrid/wire/request.ts'
import type { AppSubject } from '../app.ts'
import { ask, outcomeOf, type Seen } from '../clients.ts'
import { judged, untested } from '../finding.ts'

const SECRET = 'secret'

interface Failure {
  readonly path: string
  readonly does: string
  /** What the client gets; undefined: a cut connection. */
  readonly status: number | undefined
  /** What its line in the log must tell. */
  readonly cause: string
}

/** On Bun, only the first two are logged by the app. */
const FAILING: readonly Failure[] = [
  { path: '/throws', does: 'throws', status: 500, cause: SECRET },
  { path: '/rejects', does: 'rejects', status: 500, cause: SECRET },
  { path: '/breaks', does: 'throws amid its response', status: undefined, cause: SECRET },
  { path: '/breaks/as/a/stream', does: 'sends a body that fails', status: undefined, cause: SECRET },
]

const HANGS = { path: '/hangs', does: 'never responds', status: 503, cause: '"status":503' }
const STALLS = { path: '/stalls', does: 'stops amid its response', status: undefined, cause: '"status":200' }

/** Only one handler fails: its client learns nothing else, the log line has the request id, and other clients are served. */
export async function tryFailing(subject: AppSubject) {
  const { runtime } = subject.app
  if (runtime === 'nginx') return untested('NGINX itself responds and logs if a handler of njs fails')
  // Only failures are logged.
  const problems = await judgeFailures(subject, 'warn', runtime === 'node' ? FAILING : FAILING.slice(0, 2))
  return judged(problems, 'its client learns nothing but the status, and the log has the cause')
}

/** A handler that waits for something that never comes is given up, so that its client and its connection are free. */
export async function trySilent(subject: AppSubject) {
  const { runtime } = subject.app
  if (runtime === 'nginx') return untested('NGINX itself ends a handler of njs for which no event is left')
  // What is given up has the line of its response. Bun itself closes a connection whose body stops, after `idleTimeout`, and says nothing.
  const problems = await judgeFailures(subject, 'info', runtime === 'bun' ? [HANGS] : [HANGS, STALLS])
  return judged(problems, 'it is given up')
}

/** Makes every handler fail, one after the other, and looks at what clients and operators see. */
async function judgeFailures(subject: AppSubject, level: 'info' | 'warn', failures: readonly Failure[]) {
  const { app } = subject
  const env = { FIXTURE_ROLE: app.role, HANDLER_TIMEOUT_MS: '1000', LOG_LEVEL: level }
  const { target, output, child } = await subject.launch({ env }, failingApp(app))
  const findings: string[] = []
  for (const failure of failures) {
    const { path, does, cause } = failure
    const id = `fails${path.replaceAll('/', '-')}-1`
    const seen = await ask(target, { target: path, headers: [['x-request-id', id]] })
    const next = await ask(target, '/livez')
    await sleep(500) // a line may come after the response, and one too many after that
    const lines = output().match(new RegExp(`.*${id}.*`, 'g')) ?? []
    const found = judgeResponse(failure, seen, id)
    if (next.status !== 200) found.push(`then /livez gives ${outcomeOf(next)}`)
    if (lines.length !== 1) found.push(`${lines.length} lines of the log have the id, not one`)
    else if (!lines[0]?.includes(cause)) found.push(`the log does not tell the cause: ${lines[0]}`)
    findings.push(...found.map((what) => `A handler that ${does} (GET ${path}): ${what}.`))
  }
  return child.exitCode === null ? findings : [...findings, `The process has ended with ${child.exitCode}.`]
}

/** @param id of the request */
function judgeResponse({ status }: Failure, seen: Seen, id: string): string[] {
  const { headers = [], body, error } = seen
  if (error?.failure === 'timeout') return ['nothing has ended the response']
  const isTold = `${JSON.stringify(headers)}${body}`.includes(SECRET)
  const findings = isTold ? [`the client sees the error: ${body.slice(0, 100)}`] : []
  if (status === undefined && error === undefined && seen.status !== 500)
    findings.push(`the client got ${seen.status} as if the response was whole`)
  if (status === undefined) return findings
  if (seen.status !== status || body !== JSON.stringify(createProblem(status)))
    findings.push(`the client got ${outcomeOf(seen)} ${body}, not the problem ${status}`)
  if (headerValue(headers, 'x-request-id') !== id) findings.push('the client does not get its id')
  return findings
}

/** The app with the routes of apps/FRAMEWORK/fixtures/failing.ts. FIXTURE_ROLE must say which role it has. */
function failingApp({ framework, runtime, name }: App): Startable {
  const directory = fileURLToPath(new URL('../../fixtures/failing/', import.meta.url))
  return { name: `${name} with failing routes`, runtime, role: framework, directory }
}
