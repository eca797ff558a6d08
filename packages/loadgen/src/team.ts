import { fork } from 'node:child_process'
import { on, once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { canPin, physicalCores, readCpus } from '@startgrid/machine/cores.ts'
import type { FromChild, ToChild } from './child.ts'
import { LoadError, type LoadOptions, type LoadPhase, type LoadPlan } from './plan.ts'
import { type LoadResult, summarizeLoad } from './result.ts'

const CHILD = fileURLToPath(new URL(`child${extname(import.meta.url)}`, import.meta.url))

/** Without it, a process that is idle for minutes between loads then needs 15 to 25 % more CPU per request. */
const NODE_FLAGS = ['--no-memory-reducer']

/**
 * One or several processes of this machine that offer one load to one target, one load after another, so that their compiled code stays warm.
 * They share connections and rate, and all open their connections before any begins. Percentiles are of the merged histogram. In open
 * loop, the parts of a Poisson process are one.
 */
export type GeneratorTeam = Awaited<ReturnType<typeof startTeam>>

/**
 * Starts a generator on each of these cores. They end with `stop`, or when this process ends.
 * @param cpus the only core that each may use, which needs `taskset` (Linux); undefined: anywhere
 * @throws {LoadError} if one cannot be started, for instance on a core that does not exist; the others are stopped
 */
export async function startTeam(cpus: readonly (number | undefined)[]) {
  let generators = cpus.map(startGenerator)
  /** Ends all processes; resolves when they are gone. */
  const stop = () => Promise.all(generators.map((generator) => generator.stop()))
  const becomeReady = () => Promise.all(generators.map(({ ready }) => ready))
  await becomeReady().catch(async (error) => {
    await stop()
    throw error
  })
  return {
    get pids() {
      return generators.map(({ pid }) => pid)
    },
    /**
     * Runs one load. If it is aborted, the result has what was measured until then.
     * @throws {LoadError} like `runLoad`; also if a process died, or is running another load. The others have then ended their parts, and the next
     * load has a new process.
     */
    async run(options: LoadOptions): Promise<LoadResult> {
      generators = generators.map((one, index) => (one.hasEnded() ? startGenerator(cpus[index]) : one))
      await becomeReady()
      return runTogether(generators, options)
    },
    stop,
  }
}

async function runTogether(all: readonly Generator[], options: LoadOptions): Promise<LoadResult> {
  const { signal, onPhase, ...plan } = options
  const generators = all.slice(0, plan.connections)
  const { length: size } = generators
  const stop = new AbortController()
  const ending = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal])
  const phases = {
    open: meeting(size, () => onPhase?.('open')),
    responded: meeting(size, () => onPhase?.('responded')),
  }
  const parts = generators.map(async (generator, n) => {
    try {
      return await generator.run(shareOf(plan, n, size), ending, (phase) => phases[phase]())
    } catch (error) {
      stop.abort()
      throw error
    }
  })
  await Promise.allSettled(parts)
  return summarizeLoad(await Promise.all(parts))
}

/**
 * A physical core for each of so many generators, the last ones; undefined for all where processes cannot be pinned.
 * @throws {LoadError} if that leaves none to the server: generators that poll on one core wait for each other
 */
export function coresFor(generators: number, cpus = canPin() ? readCpus() : []): (number | undefined)[] {
  if (cpus.length === 0) return new Array<undefined>(generators).fill(undefined)
  const cores = physicalCores(cpus)
  if (generators < cores.length) return cores.slice(-generators).map(({ number }) => number)
  throw new LoadError(
    `${generators} processes and the server need a core each, and there are ${cores.length}: use fewer processes.`,
  )
}

/** The n-th part of a load: whole connections as evenly as they can be, the rate exactly, and a seed of its own. */
export function shareOf(plan: LoadPlan, n: number, parts: number): LoadPlan {
  const { connections, rate, seed = 1 } = plan
  return {
    ...plan,
    connections: Math.floor(connections / parts) + (n < connections % parts ? 1 : 0),
    ...(rate !== undefined && { rate: rate / parts }),
    seed: (seed + n) % 2 ** 32,
  }
}

/** Where so many wait until the last one has come, and something is done. */
function meeting(size: number, done: () => Promise<void> | undefined): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let missing = size
  return () => {
    if (--missing === 0) resolve(done())
    return promise
  }
}

type Generator = ReturnType<typeof startGenerator>

/** One process. */
function startGenerator(cpu: number | undefined) {
  const pinned = { execPath: 'taskset', execArgv: ['-c', String(cpu), process.execPath, ...NODE_FLAGS] }
  const isPinned = cpu !== undefined && process.platform === 'linux'
  const child = fork(CHILD, {
    ...(isPinned ? pinned : { execArgv: NODE_FLAGS }),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // JSON has neither typed arrays nor infinity.
    serialization: 'advanced',
  })
  const exited = once(child, 'exit').catch(() => {})
  /** Its end, which an error message quotes. */
  let stderr = ''
  child.stderr?.on('data', (data) => {
    stderr = `${stderr}${data}`.slice(-500)
  })
  // By `close`, all of stderr has been read.
  const messages = on(child, 'message', { close: ['close'] })
  const next = async (): Promise<FromChild> => {
    const { done, value } = await messages.next().catch(({ message }) => {
      throw new LoadError(`No generator can be started: ${message}.`)
    })
    if (done !== true) return value[0]
    const how = child.signalCode === null ? `exit code ${child.exitCode}` : `signal ${child.signalCode}`
    const last = stderr.trim()
    throw new LoadError(
      `The generator process ${child.pid} has ended (${how})${last === '' ? '.' : `: ${last}`}`,
    )
  }
  // If the process just died, `next` says so.
  const tell = (message: ToChild) => child.send(message, () => {})
  let isBusy = false
  return {
    /** Resolves when it accepts loads; the process exists then. */
    ready: next(),
    pid: child.pid ?? 0,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    /** Its part of `GeneratorTeam.run`. */
    async run(plan: LoadPlan, signal: AbortSignal, onPhase: (phase: LoadPhase) => Promise<void>) {
      if (isBusy) throw new LoadError('The generator runs one load at a time: wait for the last one.')
      isBusy = true
      const abort = () => tell('abort')
      tell({ take: plan })
      if (signal.aborted) abort()
      signal.addEventListener('abort', abort, { once: true })
      try {
        for (;;) {
          const message = await next()
          if ('measured' in message) return message.measured
          if ('error' in message) throw new LoadError(message.error)
          if (!('phase' in message)) continue
          // An account that cannot be read must not stop the load. Its reader gets the error.
          const reached = onPhase(message.phase).catch(() => {})
          void reached.then(() => tell('go'))
        }
      } finally {
        signal.removeEventListener('abort', abort)
        isBusy = false
      }
    },
    /** Ends the process, and with it a running load; resolves when it is gone. */
    async stop(): Promise<void> {
      if (child.connected) child.disconnect()
      await exited
      await messages.return?.()
    },
  }
}
