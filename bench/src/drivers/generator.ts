import {
  type GeneratorOptions,
  type LoadGenerator,
  type LoadResult,
  startGenerator,
  type Target,
} from '@startgrid/loadgen'
import { responseLength } from './response-length.ts'

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
    const generator = await this.start()
    try {
      return await generator.run(plan)
    } catch (error) {
      this.#generator = undefined
      await generator.stop()
      throw error
    }
  }

  /** As of `Driver`. */
  responseLength(place: { target: Target; path: string }): Promise<number> {
    return responseLength(place)
  }

  /** Ends the process; resolves when it is gone. */
  async stop(): Promise<void> {
    const generator = this.#generator
    this.#generator = undefined
    await generator?.stop()
  }
}
