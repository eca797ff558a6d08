import {
  type GeneratorOptions,
  type GeneratorTeam,
  LoadError,
  type LoadGenerator,
  type LoadResult,
  startGenerator,
  startTeam,
  VoidLoadError,
} from '@startgrid/loadgen'
import type { Driver } from './driver.ts'

/** Allowed to a single response, in milliseconds. */
const ASK_MS = 10_000

export type Offer = Parameters<LoadGenerator['run']>[0]

/** How Startgrid's generator is started: one process, or several elsewhere that offer each load together. */
export interface GeneratorSource extends GeneratorOptions {
  /** Instead of one process. */
  team?: readonly { name: string; options: GeneratorOptions }[]
  /** Told why a load of a team did not count: a clause that names the generator. It is offered again. */
  onVoid?(reason: string): void
}

/** Loads of a team that are offered again, one after the other, before its generators are given up. */
const TRIES = 10

/** Startgrid's generator in processes that stay warm between loads; in new ones if one dies. */
export class LastingGenerator {
  readonly #source: GeneratorSource
  #generator: LoadGenerator | GeneratorTeam | undefined

  constructor(source: GeneratorSource) {
    this.#source = source
  }

  /** Empty if it runs elsewhere: what started it there does not offer the load. */
  pids(): number[] {
    const generator = this.#generator
    if (generator === undefined || !('pid' in generator) || this.#source.command !== undefined) return []
    return Number.isNaN(generator.pid) ? [] : [generator.pid]
  }

  /** Starts the processes, unless they run. @throws {LoadError} if that is impossible */
  async start(): Promise<LoadGenerator | GeneratorTeam> {
    const { team } = this.#source
    this.#generator ??= team === undefined ? await startGenerator(this.#source) : await startTeam(team)
    return this.#generator
  }

  /**
   * Runs one load; an aborted one keeps what was measured. Of a team, one that began late or died spoils a load, which is then offered again.
   * @throws {LoadError} if the plan cannot be done, the generator died, or none can be started; the next load gets a new one
   */
  async offer(plan: Offer): Promise<LoadResult> {
    const { team, onVoid } = this.#source
    for (let tries = 1; ; tries++) {
      try {
        return await this.#use((generator) => generator.run(plan))
      } catch (error) {
        const isSpoilt = team !== undefined && error instanceof LoadError
        if (!isSpoilt || tries === TRIES || plan.signal?.aborted) throw error
        onVoid?.(error.message.replace(/\.$/, ''))
      }
    }
  }

  /** @returns bytes of the body of one response; @throws {LoadError} if there is none with status 200; also as `offer` */
  async responseLength({ target, path }: Parameters<Driver['responseLength']>[0]): Promise<number> {
    const { length } = await this.#use((generator) => generator.learn({ target, path, timeoutMs: ASK_MS }))
    if (length === undefined) throw new LoadError('The generator does not say how long the response is.')
    return length
  }

  async #use<Value>(work: (generator: LoadGenerator | GeneratorTeam) => Promise<Value>): Promise<Value> {
    const generator = await this.start()
    try {
      return await work(generator)
    } catch (error) {
      if (error instanceof VoidLoadError) throw error
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
