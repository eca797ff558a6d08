import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { BodyExpectation } from '../http/expectation.ts'
import type { Reach } from '../http/target.ts'
import type { LoadResult } from '../report/result.ts'
import { LoadError } from './load-error.ts'
import type { FromChild, LearnPlan, ToChild } from './messages.ts'
import type { LoadOptions, LoadPlan } from './options.ts'

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url))

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
}

/** A load as plain data, with what stays in this process. */
export type GeneratorLoad = LoadPlan & Pick<LoadOptions, 'signal' | 'onPhase'>

/** A process that runs one load after another, so its compiled code stays warm. */
export class LoadGenerator {
  /** With a `command`, the process id of that command. */
  readonly pid: number
  readonly #child: ChildProcessWithoutNullStreams
  readonly #reach: Reach
  #pending: PromiseWithResolvers<FromChild> | undefined
  #onPhase: GeneratorLoad['onPhase']
  #stderr = ''
  /** Why no further load can run. */
  #over: string | undefined

  /** Use `startGenerator`. */
  constructor(child: ChildProcessWithoutNullStreams, pid: number, reach: Reach) {
    this.#child = child
    this.#reach = reach
    this.pid = pid
    createInterface({ input: child.stdout }).on('line', (line) =>
      this.#received(JSON.parse(line) as FromChild),
    )
    child.stderr.on('data', (data) => {
      this.#stderr = `${this.#stderr}${data}`.slice(-STDERR_CHARACTERS)
    })
    // A write to a child that just died fails; the `close` event reports it.
    child.stdin.on('error', () => {})
    child.on('close', (code, signal) => this.#ended(code, signal))
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
    const abort = () => this.#tell({ abort: true })
    this.#onPhase = onPhase
    const answer = this.#ask({ run: { reach: this.#reach, ...plan }, phases: onPhase !== undefined })
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    try {
      const message = await answer
      if ('result' in message) return message.result
      throw refusalOf(message)
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  /**
   * Asks for a path once.
   * @returns length and hash of the body
   * @throws {LoadError} if there is no answer with status 200; also as `run`
   */
  async learn(plan: LearnPlan): Promise<BodyExpectation> {
    const message = await this.#ask({ learn: { reach: this.#reach, ...plan } })
    if ('learnt' in message) return message.learnt
    throw refusalOf(message)
  }

  /** Ends the process, and with it a running load; resolves when it is gone. */
  async stop(): Promise<void> {
    if (this.#over !== undefined) return
    this.#child.stdin.end()
    await once(this.#child, 'close')
  }

  async #ask(question: ToChild): Promise<FromChild> {
    if (this.#pending !== undefined)
      throw new LoadError('The generator runs one load at a time: wait for the last one.')
    const answer = this.#next()
    this.#tell(question)
    return answer
  }

  #next(): Promise<FromChild> {
    if (this.#over !== undefined) return Promise.reject(new LoadError(this.#over))
    this.#pending = Promise.withResolvers<FromChild>()
    return this.#pending.promise
  }

  #tell(message: ToChild): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`)
  }

  #received(message: FromChild): void {
    if ('phase' in message) {
      // An account that cannot be read must not stop the load. Its reader gets the error.
      void (this.#onPhase?.(message.phase) ?? Promise.resolve()).finally(() => this.#tell({ go: true }))
      return
    }
    const pending = this.#pending
    this.#pending = undefined
    pending?.resolve(message)
  }

  #ended(code: number | null, signal: string | null): void {
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`
    const last = this.#stderr.trim()
    this.#over = `The generator process ${this.pid} has ended (${how})${last === '' ? '.' : `: ${last}`}`
    this.#pending?.reject(new LoadError(this.#over))
    this.#pending = undefined
  }
}

function refusalOf(message: FromChild): LoadError {
  return new LoadError('error' in message ? message.error : 'The generator process answered out of turn.')
}

/**
 * Starts a generator process. It ends with `stop`, or when this process ends.
 * @throws {LoadError} if it cannot be started, for instance on a core that does not exist
 */
export async function startGenerator(options: GeneratorOptions = {}): Promise<LoadGenerator> {
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
  const generator = new LoadGenerator(child, child.pid, options.reach ?? 'machine')
  await generator.ready()
  return generator
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
