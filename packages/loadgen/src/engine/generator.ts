import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { deserialize } from 'node:v8'
import type { FromChild, ToChild } from './child.ts'
import { LoadError } from './load-error.ts'
import type { Measurement } from './measurement.ts'
import type { LoadPhase, LoadPlan } from './options.ts'

const CHILD = fileURLToPath(new URL(`child${extname(import.meta.url)}`, import.meta.url))

/** Without it, a process that is idle for minutes between loads then needs 15 to 25 % more CPU per request. */
const NODE_FLAGS = ['--no-memory-reducer']

/** The end of the child's stderr that an error message quotes. */
const STDERR_CHARACTERS = 500

interface PhasedLoad {
  /** Ends the load at once; what was measured is kept. */
  signal?: AbortSignal | undefined
  /** As `LoadOptions.onPhase`. */
  onPhase(phase: LoadPhase): Promise<void>
}

/** A process that runs one load after another, so its compiled code stays warm. */
export class LoadGenerator {
  readonly pid: number
  readonly #child: ChildProcessWithoutNullStreams
  readonly #ended: Promise<void>
  #pending: PromiseWithResolvers<FromChild> | undefined
  #onPhase: PhasedLoad['onPhase'] | undefined
  #stderr = ''
  /** Why no further load can run. */
  #over: string | undefined

  /** Use `startGenerator`. */
  constructor(child: ChildProcessWithoutNullStreams, pid: number) {
    this.#child = child
    this.pid = pid
    createInterface({ input: child.stdout }).on('line', (line) =>
      this.#received(JSON.parse(line) as FromChild),
    )
    child.stderr.on('data', (data) => {
      this.#stderr = `${this.#stderr}${data}`.slice(-STDERR_CHARACTERS)
    })
    // A write to a child that just died fails; `close` reports it.
    child.stdin.on('error', () => {})
    this.#ended = new Promise((resolve) => {
      child.on('close', (code, signal) => {
        this.#end(signal === null ? `exit code ${code}` : `signal ${signal}`)
        resolve()
      })
    })
  }

  /** Waits for the child to accept loads. */
  async ready(): Promise<void> {
    await this.#next()
  }

  /**
   * Runs one load. If it is aborted, the measurement has what was measured until then.
   * @throws {LoadError} like `runLoad`; also if the process died, or is running another load
   */
  async take(plan: LoadPlan, { signal, onPhase }: PhasedLoad): Promise<Measurement> {
    if (this.#pending !== undefined)
      throw new LoadError('The generator runs one load at a time: wait for the last one.')
    const abort = () => this.#tell({ abort: true })
    this.#onPhase = onPhase
    const response = this.#next()
    this.#tell({ take: plan })
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    const message = await response.finally(() => signal?.removeEventListener('abort', abort))
    if ('measured' in message) return deserialize(Buffer.from(message.measured, 'base64')) as Measurement
    throw new LoadError('error' in message ? message.error : 'The generator process replied out of turn.')
  }

  /** Ends the process, and with it a running load; resolves when it is gone. */
  async stop(): Promise<void> {
    this.#child.stdin.end()
    await this.#ended
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
      void this.#pass(message.phase)
      return
    }
    const pending = this.#pending
    this.#pending = undefined
    pending?.resolve(message)
  }

  async #pass(phase: LoadPhase): Promise<void> {
    // An account that cannot be read must not stop the load. Its reader gets the error.
    await this.#onPhase?.(phase).catch(() => {})
    this.#tell({ go: true })
  }

  #end(how: string): void {
    const last = this.#stderr.trim()
    this.#over = `The generator process ${this.pid} has ended (${how})${last === '' ? '.' : `: ${last}`}`
    this.#pending?.reject(new LoadError(this.#over))
    this.#pending = undefined
  }
}

/**
 * Starts a generator process. It ends with `stop`, or when this process ends.
 * @param cpu the only core that it may use; needs `taskset` (Linux), ignored elsewhere
 * @throws {LoadError} if it cannot be started, for instance on a core that does not exist
 */
export async function startGenerator(cpu: number | undefined): Promise<LoadGenerator> {
  const node = [process.execPath, ...NODE_FLAGS, CHILD]
  const isPinned = cpu !== undefined && process.platform === 'linux'
  const [command = '', ...args] = isPinned ? ['taskset', '-c', String(cpu), ...node] : node
  const child = spawn(command, args)
  const failed = once(child, 'error').then(([error]) => {
    throw new LoadError(
      `The generator process cannot be started with ${command}: ${(error as Error).message}.`,
    )
  })
  // Without a pid no process was started, and an 'error' event follows.
  if (child.pid === undefined) return failed
  failed.catch(() => {})
  const generator = new LoadGenerator(child, child.pid)
  await generator.ready()
  return generator
}
