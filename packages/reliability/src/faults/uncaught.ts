import { once } from 'node:events'
import { openConnection } from '@startgrid/conformance/http/connection.ts'
import type { Target } from '@startgrid/grid/launcher.ts'
import { statusOf } from '../clients/status.ts'
import type { Fault } from '../fault.ts'
import { preload } from '../subject/preload.ts'
import type { Subject } from '../subject/subject.ts'

/** The signals that tell fixtures/preload/uncaught.ts what to do. */
const CAUSES = [
  { what: 'an uncaught exception', signal: 'SIGWINCH', message: 'nobody catches this exception' },
  { what: 'an unhandled rejection', signal: 'SIGURG', message: 'nobody handles this rejection' },
] as const

const PATIENCE = { timeoutMs: 30_000 }

/** After an error outside a request, the state of the process is unknown. So the app logs it, finishes its responses, and exits. */
export const uncaught: Fault = {
  name: 'uncaught',
  title: 'uncaught exception or unhandled rejection outside a request',
  expected: 'logged once, drains, exits 1; can be started again at once',
  atOnce: 3,
  absent({ runtime }) {
    return runtime === 'nginx'
      ? 'A script of njs runs only inside a request. When a worker of NGINX dies, its master starts another.'
      : undefined
  },
  async run(subject) {
    // Only ssr has a slow route, whose response is under way when it happens.
    const slow = subject.app.role === 'ssr' ? '/stream?items=3&delay=1500' : undefined
    return { findings: await judgeCauses(subject, slow) }
  },
}

/** @param slow a path whose response takes a second or two */
async function judgeCauses(subject: Subject, slow: string | undefined): Promise<string[]> {
  const findings = await Promise.all(CAUSES.map((cause) => judgeCause(subject, cause, slow)))
  return findings.flat()
}

async function judgeCause(
  subject: Subject,
  { what, signal, message }: (typeof CAUSES)[number],
  slow: string | undefined,
): Promise<string[]> {
  const execArgv = preload(subject.app, 'uncaught')
  const { child, target, output } = await subject.launch({ execArgv })
  const exited = once(child, 'exit', { signal: AbortSignal.timeout(PATIENCE.timeoutMs) })
  const responded = slow === undefined ? undefined : await begin(target, slow)
  child.kill(signal)
  const isWhole = (await responded?.()) ?? true
  const [code] = await exited.catch(() => ['nothing: it goes on'])
  const findings: string[] = []
  if (!isWhole) findings.push(`After ${what} a response under way is cut.`)
  if (code !== 1) findings.push(`After ${what} it ends with ${code}, not with 1.`)
  const fatal = parseLines(output()).filter((line) => JSON.stringify(line.err ?? '').includes(message))
  if (fatal.length !== 1 || fatal[0]?.level !== 60)
    findings.push(`${fatal.length} lines of level 60 tell of ${what}, not one: ${output().slice(0, 200)}`)
  return [...findings, ...(await judgeRestart(subject, target))]
}

/** Resolves when the head is there. @returns whether the rest came as well */
async function begin(target: Target, path: string): Promise<() => Promise<boolean>> {
  const connection = await openConnection(target, PATIENCE)
  await connection.send({ target: path })
  await connection.peekStatus()
  const response = connection.response().then(
    () => true,
    () => false,
  )
  return () => response.finally(() => connection.destroy())
}

/** Restarts the app, as a supervisor does. */
async function judgeRestart(subject: Subject, target: Target): Promise<string[]> {
  if ('socketPath' in target) return []
  try {
    const again = await subject.launch({ env: { PORT: String(target.port) } })
    return (await statusOf(again.target, '/livez')) === 200 ? [] : ['Started again, it does not respond.']
  } catch (error) {
    return [`It cannot be started again: ${error instanceof Error ? error.message : error}`]
  }
}

/** Lines that are not JSON count as lines without fields. */
function parseLines(text: string): { level?: unknown; err?: unknown }[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (line.startsWith('{') ? JSON.parse(line) : {}))
}
