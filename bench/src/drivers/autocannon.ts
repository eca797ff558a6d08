import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { LoadError } from '@startgrid/loadgen'
import { cpuSeconds, waitSeconds } from '@startgrid/machine/processes.ts'
import type { AutocannonPlan, FromChild, ToChild } from './autocannon-child.ts'
import type { AutocannonLoad } from './autocannon-tally.ts'
import {
  type Capabilities,
  type Driver,
  occurred,
  rateOf,
  type SliceLoad,
  type SlicePlan,
  urlFor,
} from './driver.ts'
import { ForeignDriver, pinned } from './foreign-driver.ts'

/**
 * autocannon (https://github.com/mcollina/autocannon), through its programmatic interface, in one process that stays warm.
 *
 * It drops the requests in flight at the end, which is why a slice must be long. Its own check of bodies is not used: it makes
 * text of every piece of a body apart, so a character that lies in two pieces would be an error.
 */
export class AutocannonDriver extends ForeignDriver implements Driver {
  readonly name = 'autocannon'
  readonly capabilities: Capabilities = { minSliceMs: 500, warmupMs: 2000 }
  #process: AutocannonProcess | undefined

  pids(): number[] {
    return this.#process === undefined ? [] : [this.#process.pid]
  }

  async run(plan: SlicePlan): Promise<SliceLoad> {
    const { connections, durationMs, timeoutMs = 5000, signal } = plan
    const { expect: { status = 200 } = {} } = plan
    const load = { url: urlFor('autocannon', plan), connections, durationMs, timeoutMs, status }
    const running = await this.start()
    const account = () => [cpuSeconds([running.pid]), waitSeconds([running.pid])]
    try {
      const before = account()
      const value = await running.run(load, signal)
      const [cpu = null, wait = null] = account().map((after, index) => since(before[index], after))
      const generator = { cpuSeconds: cpu, waitSeconds: wait }
      return { ...value, rate: rateOf(value), checked: 0, errors: occurred(value.errors), generator }
    } catch (error) {
      this.#process = undefined
      await running.stop()
      throw error
    }
  }

  /** Starts the process, unless it runs. @throws {LoadError} if that is impossible */
  async start(): Promise<AutocannonProcess> {
    this.#process ??= await startAutocannon(this.cpu)
    return this.#process
  }

  override async stop(): Promise<void> {
    const running = this.#process
    this.#process = undefined
    await Promise.all([running?.stop(), super.stop()])
  }
}

function since(before: number | undefined, after: number | undefined): number | null {
  return before === undefined || after === undefined ? null : after - before
}

const CHILD = fileURLToPath(new URL('autocannon-child.ts', import.meta.url))

/**
 * A process that idles for minutes between loads would otherwise cost 15 to 25 % more CPU per request for good; and autocannon sets
 * timers to negative times, which the reader of a measurement does not need.
 */
const NODE_FLAGS = ['--no-memory-reducer', '--disable-warning=TimeoutNegativeWarning']

/** A process that runs one load after the other. */
class AutocannonProcess {
  readonly pid: number
  readonly #child: ChildProcess
  #pending: PromiseWithResolvers<FromChild> | undefined
  /** Why no load can be run any more. */
  #over: string | undefined

  constructor(child: ChildProcess, pid: number) {
    this.#child = child
    this.pid = pid
    child.on('message', (message: FromChild) => {
      this.#pending?.resolve(message)
      this.#pending = undefined
    })
    child.on('exit', (code, signal) => this.#ended(signal ?? `exit code ${code}`))
  }

  /** Waits for the child to accept loads. */
  async ready(): Promise<void> {
    await this.#next()
  }

  /**
   * Runs one load; an aborted one ends early.
   * @throws {LoadError} if autocannon refuses it, the process has ended, or is running another load
   */
  async run(plan: AutocannonPlan, signal: AbortSignal | undefined): Promise<AutocannonLoad> {
    if (this.#pending !== undefined)
      throw new LoadError('autocannon runs one load at a time: wait for the last one.')
    const abort = () => this.#tell({ abort: true })
    const reply = this.#next()
    this.#tell({ run: plan })
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    try {
      const message = await reply
      if ('load' in message) return message.load
      throw new LoadError(
        `autocannon failed: ${'error' in message ? message.error : 'it replied out of turn'}.`,
      )
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Ends the process; resolves when it is gone. */
  async stop(): Promise<void> {
    if (this.#over !== undefined) return
    const exited = once(this.#child, 'exit')
    this.#child.disconnect()
    await exited
  }

  #next(): Promise<FromChild> {
    if (this.#over !== undefined) return Promise.reject(new LoadError(this.#over))
    this.#pending = Promise.withResolvers<FromChild>()
    return this.#pending.promise
  }

  /** To a child that has just ended nothing can be said; its exit ends what is waited for. */
  #tell(message: ToChild): void {
    this.#child.send(message, () => {})
  }

  #ended(how: string): void {
    this.#over = `The process of autocannon has ended (${how}).`
    this.#pending?.reject(new LoadError(this.#over))
    this.#pending = undefined
  }
}

/**
 * Starts autocannon, from this workspace's dependencies. It ends with `stop`, or when this process ends.
 * @param cpu the only core that it may use
 * @throws {LoadError} if it cannot be started
 */
async function startAutocannon(cpu: number | undefined): Promise<AutocannonProcess> {
  const [program, ...args] = pinned([process.execPath, ...NODE_FLAGS, CHILD], cpu)
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const failed = once(child, 'error').then(([error]) => {
    throw new LoadError(`autocannon cannot be started with ${program}: ${(error as Error).message}.`)
  })
  // Without a pid there never was a process, and 'error' follows.
  if (child.pid === undefined) return failed
  failed.catch(() => {})
  const started = new AutocannonProcess(child, child.pid)
  await started.ready()
  return started
}
