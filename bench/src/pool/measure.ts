import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { oneLine } from '@startgrid/cli/text.ts'
import { Accounts } from './accounts.ts'
import { PoolError } from './pool-error.ts'
import { type Report, WARMUP } from './report.ts'
import type { PoolResult, PoolSettings } from './settings.ts'

interface MeasureOptions {
  /** Ends the launch at once. */
  signal?: AbortSignal | undefined
  /** @param part of all messages that get a response, 0 to 1 */
  onProgress?: ((part: number) => void) | undefined
}

const BUN = fileURLToPath(new URL('../../../node_modules/.bin/bun', import.meta.url))
const PROGRAM = fileURLToPath(new URL('program.ts', import.meta.url))

/**
 * Measures one launch of a pool, in a process of the runtime: 20,000 messages of warm-up, then those that count.
 * @throws {PoolError} if the process ends before it has a result
 * @throws what `signal` was aborted with
 */
export async function measurePool(
  settings: PoolSettings,
  { signal, onProgress }: MeasureOptions = {},
): Promise<PoolResult> {
  signal?.throwIfAborted()
  const runtime = settings.runtime === 'bun' ? BUN : process.execPath
  const child = spawn(runtime, [PROGRAM, JSON.stringify(settings)], {
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const kill = () => child.kill('SIGKILL') // its workers see that and end
  signal?.addEventListener('abort', kill, { once: true })
  let accounts: Accounts | undefined
  let result: PoolResult | undefined
  createInterface(child.stdout).on('line', (line) => {
    const report = parseReport(line)
    if (report?.kind === 'progress') onProgress?.(report.done / (settings.messages + WARMUP))
    if (report?.kind === 'begun') accounts = new Accounts(child.pid)
    if (report?.kind === 'ended') {
      result = { ...report.run, ...describeCost(accounts, settings.messages) }
      child.stdin.end()
    }
  })
  const [complaint] = await Promise.all([text(child.stderr), once(child, 'close')])
  signal?.removeEventListener('abort', kill)
  signal?.throwIfAborted()
  if (result !== undefined) return result
  const { library, runtime: on } = settings
  throw new PoolError(`${library} on ${on} could not be measured: ${oneLine(complaint) || 'it said nothing'}`)
}

/** Workers of qoper8-cp share the output, and say something of their own at Ctrl-C. */
function parseReport(line: string): Report | undefined {
  return line.startsWith('{') ? (JSON.parse(line) as Report) : undefined
}

function describeCost(
  accounts: Accounts | undefined,
  messages: number,
): Pick<PoolResult, 'cpuPerMessage' | 'foreign'> {
  const cost = accounts?.read()
  if (cost === undefined) return { cpuPerMessage: null, foreign: null }
  return { cpuPerMessage: cost.cpuSeconds / messages, foreign: cost.foreign }
}
