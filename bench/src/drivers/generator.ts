import {
  type GeneratorOptions,
  LoadError,
  type LoadGenerator,
  type LoadResult,
  startGenerator,
} from '@startgrid/loadgen'
import type { Driver } from './driver.ts'

/** Allowed to a single response, in milliseconds. */
const ASK_MS = 10_000

export type Offer = Parameters<LoadGenerator['run']>[0]

/** Startgrid's generator in a process that stays warm between loads; in a new one if it dies. */
export class LastingGenerator {
  readonly #options: GeneratorOptions
  #generator: LoadGenerator | undefined

  constructor(options: GeneratorOptions) {
    this.#options = options
  }

  pids(): number[] {
    return this.#generator === undefined ? [] : [this.#generator.pid]
  }

  /** Starts the process, unless it runs. @throws {LoadError} if that is impossible */
  async start(): Promise<LoadGenerator> {
    this.#generator ??= await startGenerator(this.#options)
    return this.#generator
  }

  /**
   * Runs one load; an aborted one keeps what was measured.
   * @throws {LoadError} if the plan cannot be done, the generator died, or none can be started; the next load gets a new one
   */
  async offer(plan: Offer): Promise<LoadResult> {
    return this.#use((generator) => generator.run(plan))
  }

  /** @returns bytes of the body of one response; @throws {LoadError} if there is none with status 200; also as `offer` */
  async responseLength({ target, path }: Parameters<Driver['responseLength']>[0]): Promise<number> {
    const { length } = await this.#use((generator) => generator.learn({ target, path, timeoutMs: ASK_MS }))
    if (length === undefined) throw new LoadError('The generator does not say how long the response is.')
    return length
  }

  async #use<Value>(work: (generator: LoadGenerator) => Promise<Value>): Promise<Value> {
    const generator = await this.start()
    try {
      return await work(generator)
    } catch (error) {
      this.#generator = undefined
      await generator.stop()
      throw error
    }
  }

  /** Ends the process; resolves when it is gone. */
  async stop(): Promise<void> {
    const generator = this.#generator
    this.#generator = undefined
    await generator?.stop()
  }
}
