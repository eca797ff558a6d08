import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { LaunchError, type LaunchOptions, type Startable } from '@startgrid/grid/launcher.ts'
import { openConnection } from '@startgrid/wire/client.ts'
import type { AppSubject } from '../app.ts'
import { PATIENCE } from '../clients.ts'
import { judged, untested } from '../finding.ts'

/** The signals that tell fixtures/preload/uncaught.ts what to do. */
const CAUSES = [
  { what: 'an uncaught exception', signal: 'SIGWINCH', message: 'nobody catches this exception' },
  { what: 'an unhandled rejection', signal: 'SIGURG', message: 'nobody handles this rejection' },
] as const

/** After an error outside a request, the state of the process is unknown. So the app logs it, finishes its responses, and exits. */
export async function tryUncaught(subject: AppSubject) {
  if (subject.app.runtime === 'nginx') return untested('a script of njs runs only inside a request')
  const problems = await Promise.all(CAUSES.map((cause) => judgeCause(subject, cause)))
  return judged(problems.flat(), 'it logs the cause, finishes its responses, and ends with 1')
}

async function judgeCause(
  subject: AppSubject,
  { what, signal, message }: (typeof CAUSES)[number],
): Promise<string[]> {
  // Its runtime loads a file first, of which the app does not know.
  const preload = fileURLToPath(new URL('../../fixtures/preload/uncaught.ts', import.meta.url))
  const execArgv = [subject.app.runtime === 'bun' ? '--preload' : '--import', preload]
  const { child, target, output } = await subject.launch({ execArgv })
  const exited = once(child, 'exit', { signal: AbortSignal.timeout(30_000) })
  // Only ssr has a slow route, whose response is under way when it happens.
  const slow = subject.app.role === 'ssr' ? await openConnection(target, PATIENCE) : undefined
  slow?.send({ target: '/stream?items=3&delay=1500' })
  await slow?.head()
  child.kill(signal)
  const isWhole = (await slow?.response().catch(() => false)) !== false
  const [code] = await exited.catch(() => ['nothing: it goes on'])
  const findings: string[] = []
  if (!isWhole) findings.push(`After ${what} a response under way is cut.`)
  if (code !== 1) findings.push(`After ${what} it ends with ${code}, not with 1.`)
  const lines = output()
    .split('\n')
    .filter((line) => line.includes(message))
  if (lines.length !== 1 || !lines[0]?.startsWith('{"level":60'))
    findings.push(`${lines.length} lines tell of ${what}, not one of level 60: ${output().slice(0, 200)}`)
  try {
    await subject.launch({ env: { PORT: 'port' in target ? String(target.port) : '0' } })
  } catch (error) {
    findings.push(`It cannot be started again: ${error instanceof Error ? error.message : error}`)
  }
  return findings
}

/** An app that cannot start says why once, in words, and does not hang or print a stack. */
export async function tryStarts(subject: AppSubject) {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const problems = [
    ...(await judgeStart(subject, 'With a port that is taken', { env: { PORT: String(port) } })),
    ...(await judgeStart(subject, 'With PORT=99999', { env: { PORT: '99999' } })),
    ...(await judgeStart(subject, "As role 'nobody'", {}, { ...subject.app, role: 'nobody' })),
  ]
  taken.close()
  return judged(problems, 'it says why in a sentence, and ends with 1')
}

async function judgeStart(subject: AppSubject, how: string, options: LaunchOptions, app?: Startable) {
  try {
    const { stop } = await subject.launch(options, app)
    await stop()
    return [`${how} it starts.`]
  } catch (error) {
    if (!(error instanceof LaunchError)) throw error
    const isSaid = /ended with 1 before it listened: [^\n]+\.$/.test(error.message)
    return isSaid ? [] : [`${how} it does not end with one sentence and 1: ${error.message}`]
  }
}
