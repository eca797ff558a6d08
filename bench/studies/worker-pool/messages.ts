import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { oneLine } from '@startgrid/cli/text.ts'
import { cpuSeconds, processTree } from '@startgrid/machine/processes.ts'
import type { Figures, ProbeContext } from '../../src/result/experiment.ts'

/** The source has 500,000. So many take some seconds here. */
const MESSAGES = { quick: 40_000, full: 200_000 } as const

const BUN = fileURLToPath(new URL('../../../node_modules/.bin/bun', import.meta.url))
const PROGRAM = fileURLToPath(new URL('bm.ts', import.meta.url))

/**
 * Runs the benchmark that comes with qoper8-cp, as the source did.
 * @returns messages per second, and what one costs with the start of all processes
 * @throws {Error} with a sentence, if it has no rate
 * @throws what `signal` was aborted with
 */
export async function measureMessages(
  { runtime, size }: { runtime: 'node' | 'bun'; size: number },
  { signal, quick }: Pick<ProbeContext, 'signal' | 'quick'>,
  messages: number = quick ? MESSAGES.quick : MESSAGES.full,
): Promise<Figures> {
  signal.throwIfAborted()
  const child = spawn(runtime === 'bun' ? BUN : process.execPath, [PROGRAM, `${size}`, `${messages}`], {
    detached: true, // its workers outlive it, and end with its group
    env: { ...process.env, NODE_ENV: 'production', LC_ALL: 'en_US.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let used: number | undefined
  // Its processes end with its last line, and their accounts with them.
  const reading = setInterval(() => {
    used = cpuSeconds(processTree(child.pid ?? 0)) ?? used
  }, 50)
  const kill = () => killGroup(child.pid)
  signal.addEventListener('abort', kill, { once: true })
  try {
    const [output, complaint] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    signal.throwIfAborted()
    const [, rate] = /^Processing rate: ([\d,.]+) /m.exec(output) ?? []
    if (rate === undefined)
      throw new Error(`qoper8-cp on ${runtime} has no rate: ${oneLine(complaint) || 'it ended early'}`)
    return { rate: Number(rate.replaceAll(',', '')), ...(used && { cpu: used / messages }) }
  } finally {
    clearInterval(reading)
    signal.removeEventListener('abort', kill)
    kill()
  }
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // All have ended.
  }
}
