import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { oneLine } from '@startgrid/cli/text.ts'
import { processTree } from '@startgrid/machine/processes.ts'
import type { Figures, ProbeContext } from '../../../src/model/experiment.ts'
import { beginAccount } from '../../account.ts'

/** What the program is told, as JSON. */
export interface PoolSettings {
  /** Workers. */
  size: number
  /** Counted ones; those of the warm-up come on top. */
  messages: number
}

/** So many that a launch takes a second or two. */
const MESSAGES = { quick: 40_000, full: 200_000 } as const

const BUN = fileURLToPath(new URL('../../../../node_modules/.bin/bun', import.meta.url))
const PROGRAM = fileURLToPath(new URL('program.ts', import.meta.url))

/**
 * Measures one launch of qoper8-cp alone, in a process of the runtime, without the delay that the source tuned by hand: a bounded number of messages is in
 * flight.
 * @throws {Error} with a sentence, if the pool does not run
 * @throws what `signal` was aborted with
 */
export async function measureMessages(
  { runtime, size }: { runtime: 'node' | 'bun'; size: number },
  { signal, quick, onForeign }: ProbeContext,
  messages: number = quick ? MESSAGES.quick : MESSAGES.full,
): Promise<Figures> {
  signal.throwIfAborted()
  const settings: PoolSettings = { size, messages }
  const child = spawn(runtime === 'bun' ? BUN : process.execPath, [PROGRAM, JSON.stringify(settings)], {
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const kill = () => child.kill('SIGKILL') // its workers see that and end
  signal.addEventListener('abort', kill, { once: true })
  let endAccount: ReturnType<typeof beginAccount> | undefined
  let figures: Figures | undefined
  createInterface(child.stdout).on('line', (line) => {
    if (line === 'begun') {
      endAccount = beginAccount(processTree(child.pid ?? 0))
      child.kill('SIGUSR2')
    }
    const [, rate] = /^rate (\S+)$/.exec(line) ?? []
    if (rate === undefined) return // workers share the output
    const account = endAccount?.()
    figures = { rate: Number(rate), ...(account && { cpu: account.cpuSeconds / messages }) }
    if (account) onForeign(account.foreign)
    child.stdin.end()
  })
  const [complaint] = await Promise.all([text(child.stderr), once(child, 'close')])
  signal.removeEventListener('abort', kill)
  signal.throwIfAborted()
  if (figures !== undefined) return figures
  throw new Error(`qoper8-cp on ${runtime} could not be measured: ${oneLine(complaint) || 'it said nothing'}`)
}
