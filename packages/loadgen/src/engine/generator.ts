import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { deserialize } from 'node:v8'
import type { BodyExpectation } from '../http/expectation.ts'
import type { Reach } from '../http/target.ts'
import type { LoadResult } from '../report/result.ts'
import { summarizeLoad } from '../report/summary.ts'
import { sharedNow } from './clock.ts'
import { LoadError } from './load-error.ts'
import type { Measurement } from './measurement.ts'
import type { FromChild, LearnPlan, ToChild } from './messages.ts'
import type { LoadPhase, LoadPlan } from './options.ts'

const CHILD = fileURLToPath(new URL(`child${extname(import.meta.url)}`, import.meta.url))

/** Without it, a process that is idle for minutes between loads then needs 15 to 25 % more CPU per request. */
const NODE_FLAGS = ['--no-memory-reducer']

/** The end of the child's stderr that an error message quotes. */
const STDERR_CHARACTERS = 500

export interface GeneratorOptions {
  /** The only core the process may use. Needs `taskset` (Linux); ignored elsewhere. */
  cpu?: number | undefined
  /** How far away its targets may be; default `machine`. */
  reach?: Reach
  /** A command that runs child.ts elsewhere, such as `docker run --interactive …`. It must connect standard input and output, and apply `cpu`. */
  command?: readonly [string, ...string[]]
  /** Reaches child.ts where a command of this machine cannot start it, such as in a pod. */
  connect?: () => Promise<GeneratorChannel>
}

/** The standard streams of child.ts, wherever it runs. */
export interface GeneratorChannel {
  stdin: Writable
  stdout: Readable
  stderr: Readable
  /** Resolves when the other side is gone, with how it ended, such as `exit code 1`. */
  ended: Promise<string>
}

/** A load as plain data, with what stays in this process. */
export type GeneratorLoad = LoadPlan & PhasedLoad

interface PhasedLoad {
  /** Ends the load at once; what was measured is kept. */
  signal?: AbortSignal | undefined
  /** As `LoadOptions.onPhase`. */
  onPhase?: ((phase: LoadPhase) => Promise<number | undefined> | Promise<void>) | undefined
}

/** How the clock of a generator differs from that of this process. */
export interface ClockOffset {
  /** Milliseconds to add to `sharedNow` here to have it there. */
  offsetMs: number
  /** The offset is known to plus or minus this: half of the shortest round trip. */
  uncertaintyMs: number
}

/** A process that runs one load after another, so its compiled code stays warm. */
export class LoadGenerator {
  /** With a `command`, the process id of that command; NaN with `connect`. */
  readonly pid: number
  readonly #name: string
  readonly #channel: GeneratorChannel
  readonly #reach: Reach
  #pending: PromiseWithResolvers<FromChild> | undefined
  #onPhase: GeneratorLoad['onPhase']
  #stderr = ''
  /** Why no further load can run. */
  #over: string | undefined

  /** Use `startGenerator`. */
  constructor(channel: GeneratorChannel, pid: number, reach: Reach) {
    this.#channel = channel
    this.#reach = reach
    this.pid = pid
    this.#name = Number.isNaN(pid) ? 'generator' : `generator process ${pid}`
    createInterface({ input: channel.stdout }).on('line', (line) =>
      this.#received(JSON.parse(line) as FromChild),
    )
    channel.stderr.on('data', (data) => {
      this.#stderr = `${this.#stderr}${data}`.slice(-STDERR_CHARACTERS)
    })
    // A write to a child that just died fails; `ended` reports it.
    channel.stdin.on('error', () => {})
    void channel.ended.then((how) => this.#ended(how))
  }

  /** Waits for the child to accept loads. */
  async ready(): Promise<void> {
    await this.#next()
  }

  /**
   * Runs one load. If it is aborted, the result has what was measured until then.
   * @throws {LoadError} like `runLoad`; also if the process died, or is running another load
   */
  async run({ signal, onPhase, ...plan }: GeneratorLoad): Promise<LoadResult> {
    return summarizeLoad([await this.take(plan, { signal, onPhase })], plan.seriesMs)
  }

  /**
   * Runs this generator's part of a load that several offer together: see `GeneratorTeam`.
   * @throws {LoadError} as `run`
   */
  async take(plan: LoadPlan, { signal, onPhase }: PhasedLoad): Promise<Measurement> {
    const abort = () => this.#tell({ abort: true })
    this.#onPhase = onPhase
    const response = this.#ask({ take: { reach: this.#reach, ...plan }, phases: onPhase !== undefined })
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    const message = await response.finally(() => signal?.removeEventListener('abort', abort))
    if ('measured' in message) return deserialize(Buffer.from(message.measured, 'base64')) as Measurement
    throw refusalOf(message)
  }

  /**
   * Compares clocks as NTP does (https://www.rfc-editor.org/rfc/rfc5905#section-8), by the shortest round trip of several.
   * @throws {LoadError} as `run`
   */
  async compareClocks(roundTrips: number): Promise<ClockOffset> {
    let best: ClockOffset = { offsetMs: 0, uncertaintyMs: Number.POSITIVE_INFINITY }
    for (let n = 0; n < roundTrips; n++) {
      const sent = sharedNow()
      const message = await this.#ask({ clock: true })
      const received = sharedNow()
      if (!('clock' in message)) throw refusalOf(message)
      const uncertaintyMs = (received - sent) / 2
      if (uncertaintyMs < best.uncertaintyMs)
        best = { offsetMs: message.clock - (sent + received) / 2, uncertaintyMs }
    }
    return best
  }

  /**
   * Asks for a path once.
   * @returns length of the body
   * @throws {LoadError} if there is no response with status 200; also as `run`
   */
  async learn(plan: LearnPlan): Promise<BodyExpectation> {
    const message = await this.#ask({ learn: { reach: this.#reach, ...plan } })
    if ('learnt' in message) return message.learnt
    throw refusalOf(message)
  }

  /** Ends the process, and with it a running load; resolves when it is gone. */
  async stop(): Promise<void> {
    if (this.#over !== undefined) return
    this.#channel.stdin.end()
    await this.#channel.ended
  }

  async #ask(question: ToChild): Promise<FromChild> {
    if (this.#pending !== undefined)
      throw new LoadError('The generator runs one load at a time: wait for the last one.')
    const response = this.#next()
    this.#tell(question)
    return response
  }

  #next(): Promise<FromChild> {
    if (this.#over !== undefined) return Promise.reject(new LoadError(this.#over))
    this.#pending = Promise.withResolvers<FromChild>()
    return this.#pending.promise
  }

  #tell(message: ToChild): void {
    this.#channel.stdin.write(`${JSON.stringify(message)}\n`)
  }

  #received(message: FromChild): void {
    if ('phase' in message) {
      void this.#pass(message.phase)
      return
    }
    const pending = this.#pending
    this.#pending = undefined
    pending?.resolve(message)
  }

  async #pass(phase: LoadPhase): Promise<void> {
    // An account that cannot be read must not stop the load. Its reader gets the error.
    const at = await Promise.resolve(this.#onPhase?.(phase)).catch(() => undefined)
    this.#tell({ go: true, ...(typeof at === 'number' && { at }) })
  }

  #ended(how: string): void {
    const last = this.#stderr.trim()
    this.#over = `The ${this.#name} has ended (${how})${last === '' ? '.' : `: ${last}`}`
    this.#pending?.reject(new LoadError(this.#over))
    this.#pending = undefined
  }
}

function refusalOf(message: FromChild): LoadError {
  return new LoadError('error' in message ? message.error : 'The generator process replied out of turn.')
}

/**
 * Starts a generator process. It ends with `stop`, or when this process ends.
 * @throws {LoadError} if it cannot be started, for instance on a core that does not exist
 */
export async function startGenerator(options: GeneratorOptions = {}): Promise<LoadGenerator> {
  const reach = options.reach ?? 'machine'
  const generator =
    options.connect === undefined
      ? await startProcess(options, reach)
      : new LoadGenerator(await options.connect(), Number.NaN, reach)
  await generator.ready()
  return generator
}

async function startProcess(options: GeneratorOptions, reach: Reach): Promise<LoadGenerator> {
  const [command, ...args] = options.command ?? ownCommand(options.cpu)
  // A command may not ignore Ctrl-C as the child does. In its own process group it does not get the signal.
  const child = spawn(command, args, { detached: options.command !== undefined })
  const failed = once(child, 'error').then(([error]) => {
    throw new LoadError(
      `The generator process cannot be started with ${command}: ${(error as Error).message}.`,
    )
  })
  // Without a pid no process was started, and an 'error' event follows.
  if (child.pid === undefined) return failed
  failed.catch(() => {})
  const { stdin, stdout, stderr } = child
  const ended = new Promise<string>((resolve) => {
    child.on('close', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`))
  })
  return new LoadGenerator({ stdin, stdout, stderr, ended }, child.pid, reach)
}

function ownCommand(cpu: number | undefined): [string, ...string[]] {
  const node: [string, ...string[]] = [process.execPath, ...NODE_FLAGS, CHILD]
  return cpu !== undefined && process.platform === 'linux' ? ['taskset', '-c', String(cpu), ...node] : node
}

/** Runs one load in a process of its own.
 * @throws {LoadError} as `startGenerator` and `LoadGenerator.run` do */
export async function spawnLoad(
  options: LoadPlan & { signal?: AbortSignal },
  generatorOptions: GeneratorOptions = {},
): Promise<LoadResult> {
  const generator = await startGenerator(generatorOptions)
  try {
    return await generator.run(options)
  } finally {
    await generator.stop()
  }
}
