import {
  type GeneratorOptions,
  type LoadGenerator,
  type LoadResult,
  startGenerator,
} from '@startgrid/loadgen'

type Run = Parameters<LoadGenerator['run']>[0]

/** Offers load from one generator process, and from a new one if that dies. */
export class Driver {
  readonly #options: GeneratorOptions
  #generator: LoadGenerator | undefined

  /** @param cpu the only core that the generator may use */
  constructor(cpu: number | undefined) {
    this.#options = cpu === undefined ? {} : { cpu }
  }

  /**
   * Runs one load; an aborted one keeps what was measured.
   * @throws {LoadError} if the generator died, or none can be started; the next load gets a new one
   */
  async run(plan: Run): Promise<LoadResult> {
    this.#generator ??= await startGenerator(this.#options)
    const generator = this.#generator
    try {
      return await generator.run(plan)
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
