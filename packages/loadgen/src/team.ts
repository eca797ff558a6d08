import { type ChildProcess, fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readCpus } from '@startgrid/machine/cores.ts'
import type { FromChild, ToChild } from './child.ts'
import { LoadError, type LoadOptions, type LoadPhase, type LoadPlan } from './plan.ts'
import { Requests } from './requests.ts'
import { type LoadResult, type Measurement, summarizeLoad } from './result.ts'

const CHILD = fileURLToPath(new URL(`child${extname(import.meta.url)}`, import.meta.url))

/** Without it, a process that is idle for minutes between loads then needs 15 to 25 % more CPU per request. */
const NODE_FLAGS = ['--no-memory-reducer']

/** The end of a process's stderr that an error message quotes. */
const STDERR_CHARACTERS = 500

/**
 * One or several processes of this machine that offer one load to one target, one load after another, so that their compiled code stays warm.
 * They share connections and rate, and all open their connections before any begins. Percentiles are of the merged histogram. In open
 * loop, the parts of a Poisson process are one.
 */
export class GeneratorTeam {
  readonly #generators: readonly Generator[]

  /** Use `startTeam`. */
  constructor(generators: readonly Generator[]) {
    this.#generators = generators
  }

  get pids(): number[] {
    return this.#generators.map(({ pid }) => pid)
  }

  /**
   * Runs one load. If it is aborted, the result has what was measured until then.
   * @throws {LoadError} like `runLoad`; also if a process died, or is running another load. The others have then ended their parts.
   */
  async run({ signal, onPhase, ...plan }: LoadOptions): Promise<LoadResult> {
    // Refuses what cannot be sent before anything begins.
    new Requests(plan, () => 0)
    const generators = this.#generators.slice(0, plan.connections)
    const { length: size } = generators
    const stop = new AbortController()
    const all = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal])
    const phases = {
      open: meeting(size, () => onPhase?.('open')),
      responded: meeting(size, () => onPhase?.('responded')),
    }
    const parts = generators.map(async (generator, n) => {
      try {
        return await generator.run(shareOf(plan, n, size), all, (phase) => phases[phase]())
      } catch (error) {
        stop.abort()
        throw error
      }
    })
    await Promise.allSettled(parts)
    return summarizeLoad(await Promise.all(parts))
  }

  /** Ends all processes; resolves when they are gone. */
  async stop(): Promise<void> {
    await Promise.all(this.#generators.map((generator) => generator.stop()))
  }
}

/**
 * Starts a generator on each of these cores. They end with `stop`, or when this process ends.
 * @param cpus the only core that each may use, which needs `taskset` (Linux); undefined: anywhere
 * @throws {LoadError} if one cannot be started, for instance on a core that does not exist; the others are stopped
 */
export async function startTeam(cpus: readonly (number | undefined)[]): Promise<GeneratorTeam> {
  const generators = cpus.map((cpu) => new Generator(cpu))
  const team = new GeneratorTeam(generators)
  try {
    await Promise.all(generators.map(({ ready }) => ready))
    return team
  } catch (error) {
    await team.stop()
    throw error
  }
}

/**
 * A physical core for each of so many generators, the last ones; undefined for all where the system names no cores (not Linux).
 * @throws {LoadError} if that leaves none to the server: generators that poll on one core wait for each other
 */
export function coresFor(generators: number, cpus = readCpus()): (number | undefined)[] {
  if (cpus.length === 0) return new Array<undefined>(generators).fill(undefined)
  const cores = cpus.filter((cpu) => cpus.find(({ number }) => cpu.siblings.includes(number)) === cpu)
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

/** One process. */
class Generator {
  /** Resolves when it accepts loads. */
  readonly ready: Promise<unknown>
  readonly #child: ChildProcess
  readonly #gone: Promise<void>
  #response: PromiseWithResolvers<FromChild> | undefined
  #onPhase: ((phase: LoadPhase) => Promise<void>) | undefined
  #stderr = ''
  /** Why no further load can run. */
  #over: string | undefined

  constructor(cpu: number | undefined) {
    const pinned = { execPath: 'taskset', execArgv: ['-c', String(cpu), process.execPath, ...NODE_FLAGS] }
    const isPinned = cpu !== undefined && process.platform === 'linux'
    this.#child = fork(CHILD, {
      ...(isPinned ? pinned : { execArgv: NODE_FLAGS }),
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // JSON has neither typed arrays nor infinity.
      serialization: 'advanced',
    })
    this.#child.on('message', (message) => this.#received(message as FromChild))
    this.#child.stderr?.on('data', (data) => {
      this.#stderr = `${this.#stderr}${data}`.slice(-STDERR_CHARACTERS)
    })
    // By `close`, all of stderr has been read. It does not follow a `disconnect` of ours.
    this.#child.on('close', (code, signal) => this.#end(this.#howEnded(code, signal)))
    this.#gone = new Promise((resolve) => {
      this.#child.on('exit', () => resolve())
      this.#child.on('error', ({ message }) => resolve(this.#end(`No generator can be started: ${message}.`)))
    })
    this.ready = this.#next()
  }

  /** The process exists once it is ready. */
  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** As `GeneratorTeam.run`. */
  async run(
    plan: LoadPlan,
    signal: AbortSignal,
    onPhase: (phase: LoadPhase) => Promise<void>,
  ): Promise<Measurement> {
    if (this.#response !== undefined)
      throw new LoadError('The generator runs one load at a time: wait for the last one.')
    const abort = () => this.#tell('abort')
    this.#onPhase = onPhase
    const response = this.#next()
    this.#tell({ take: plan })
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    const message = await response.finally(() => signal.removeEventListener('abort', abort))
    if ('measured' in message) return message.measured
    throw new LoadError('error' in message ? message.error : 'The generator process replied out of turn.')
  }

  /** Ends the process, and with it a running load; resolves when it is gone. */
  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect()
    await this.#gone
    this.#end('The generator has been stopped.')
  }

  #next(): Promise<FromChild> {
    if (this.#over !== undefined) return Promise.reject(new LoadError(this.#over))
    this.#response = Promise.withResolvers()
    return this.#response.promise
  }

  #tell(message: ToChild): void {
    // If the process just died, `close` reports it.
    this.#child.send(message, () => {})
  }

  #received(message: FromChild): void {
    if ('phase' in message) return void this.#pass(message.phase)
    this.#response?.resolve(message)
    this.#response = undefined
  }

  async #pass(phase: LoadPhase): Promise<void> {
    // An account that cannot be read must not stop the load. Its reader gets the error.
    await this.#onPhase?.(phase).catch(() => {})
    this.#tell('go')
  }

  #howEnded(code: number | null, signal: NodeJS.Signals | null): string {
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`
    const last = this.#stderr.trim()
    return `The generator process ${this.pid} has ended (${how})${last === '' ? '.' : `: ${last}`}`
  }

  #end(why: string): void {
    this.#over ??= why
    this.#response?.reject(new LoadError(this.#over))
    this.#response = undefined
  }
}
