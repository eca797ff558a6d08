import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Nginx } from '../find/find.ts'
import type { Address } from '../render/address.ts'
import { awaitResponses, hold, readErrors, release } from './launch.ts'
import { endOrphans, explainRejection, isRunning, stopMaster, workersOf } from './master.ts'
import { type Setup, setUp, type Wanted } from './setup.ts'

type StartOptions = Wanted & {
  /** Worker processes, default 1. */
  readonly workers?: number
  /** CPUs to pin master and workers to, as `taskset` writes a list: `0` or `0,2-3`. */
  readonly cpus?: string
  /** `inherit`: errors, and the access log if it goes to `standardOutput(main)`, come out of this process. */
  readonly output?: 'inherit'
}

/** How an NGINX ended: `signal` is null unless it was killed. */
interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A running NGINX that ends with this process. */
export interface Instance {
  readonly dir: string
  /** One per front, or `listen` of the raw configuration; the ports are the real ones. */
  readonly addresses: readonly Address[]
  /** Process ids on this machine: the master first, then the workers, leaving ones included. */
  pids(): number[]
  /** Its error log; empty once it was stopped. */
  errors(): string
  /**
   * Completes the responses in flight, ends, and removes its files. It may be called again.
   * @param deadlineMs milliseconds until the rest is cut off, default 10,000
   */
  stop(deadlineMs?: number): Promise<void>
  /** Resolves when it has ended, for whatever reason. */
  readonly exited: Promise<Ending>
}

/**
 * Starts an NGINX in the foreground, without root, with everything it writes in one directory, and waits until it serves.
 * It ends with this process, even if that is killed.
 * @throws {Error} one sentence: a taken port, a configuration that NGINX refuses, no CPU pinning on this system
 */
export async function startNginx(nginx: Nginx, options: StartOptions): Promise<Instance> {
  if (options.cpus !== undefined && process.platform !== 'linux') {
    throw new Error('Pinning NGINX to a CPU works only on Linux; leave it out here.')
  }
  // Another process may take a free port before NGINX does. With port 0, NGINX then gets another one.
  for (let attempt = 1; ; attempt++) {
    const dir = await mkdtemp(join(tmpdir(), 'startgrid-nginx-'))
    try {
      return await start(nginx, options, await setUp(nginx, options, { dir, workers: options.workers ?? 1 }))
    } catch (error) {
      await rm(dir, { recursive: true, force: true })
      if (!(error instanceof PortLost) || attempt === 5) throw error
    }
  }
}

/** Another process took the chosen port in the meantime. */
class PortLost extends Error {}

async function start(nginx: Nginx, { cpus, output }: StartOptions, setup: Setup): Promise<Instance> {
  const { dir } = setup
  const { path } = nginx
  await writeFile(join(dir, 'nginx.conf'), setup.config)
  const child = hold({ path, dir, cpus }, output === 'inherit')
  const pid = child.pid ?? 0
  const errors = collectErrors(child, dir)
  const exited = watch(child)
  const said = once(child, 'close').catch(() => undefined)
  try {
    await awaitResponses(setup, () => isRunning(pid))
  } catch (error) {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    await exited
    // Its last output may still be in the pipe.
    await Promise.race([said, sleep(1_000, undefined, { ref: false })])
    throw explain(error, errors(), setup)
  }
  const master = { pid, dir, path }
  const stop = async (deadlineMs: number) => {
    await stopMaster(master, deadlineMs)
    await exited
    await rm(dir, { recursive: true, force: true })
  }
  let stopping: Promise<void> | undefined
  return {
    dir,
    addresses: setup.addresses,
    pids: () => (isRunning(pid) ? [pid, ...workersOf(pid).map((worker) => worker.pid)] : []),
    errors,
    stop: (deadlineMs = 10_000) => {
      stopping ??= stop(deadlineMs)
      return stopping
    },
    exited,
  }
}

/** The reason from NGINX's log. If it has none, the error of the wait. */
function explain(error: unknown, log: string, { chosePorts }: Setup): Error {
  if (!log.includes('[emerg]')) {
    const line = log.trim().split('\n').at(-1) ?? ''
    return line === '' && error instanceof Error ? error : new Error(`NGINX does not start: ${line}`)
  }
  const sentence = explainRejection(log)
  return chosePorts && /\(98|\(48/.test(log) ? new PortLost(sentence) : new Error(sentence)
}

/** What NGINX has logged: from its file, or, with `inherit`, the last 64 KiB of standard error, which is passed on. */
function collectErrors(child: ChildProcess, dir: string): () => string {
  let text = ''
  child.once('error', (error) => {
    text += `${error.message}\n`
  })
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-65_536)
    process.stderr.write(chunk)
  })
  return () => (child.stderr === null ? text + readErrors(dir) : text)
}

function watch(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve) => {
    child.once('error', () => resolve({ code: 127, signal: null }))
    child.once('exit', async (code, signal) => {
      release(child)
      // Only if the master was killed, because otherwise its workers end with it.
      if (signal !== null) endOrphans(child.pid ?? 0)
      // Its last lines are on their way.
      if (child.stdout?.closed === false)
        await Promise.race([once(child.stdout, 'close'), sleep(1_000, undefined, { ref: false })])
      resolve({ code, signal })
    })
  })
}
