import type { LoadOptions } from '@startgrid/loadgen/plan.ts'
import { LoadError } from '@startgrid/loadgen/plan.ts'
import type { ErrorCounts, LoadResult } from '@startgrid/loadgen/result.ts'
import { type GeneratorTeam, startTeam } from '@startgrid/loadgen/team.ts'
import { ask } from '@startgrid/wire/client.ts'
import { NoResponse } from '@startgrid/wire/reader.ts'
import type { Target } from '@startgrid/wire/target.ts'

export interface SliceLoad {
  /** Responses whose content was compared. */
  checked: number
  /** Only kinds that occurred. */
  errors: Partial<ErrorCounts>
  /** Whole responses, whatever their status. */
  requests: number
  /** The time that they took. */
  seconds: number
  /** `requests / seconds`. */
  rate: number
  /** Of a response with its headers, on average; absent without responses. */
  bytes?: number
  /** Seconds that a request waited for its response at most; absent without responses. */
  longest?: number
  /** As of `LoadResult`. */
  handshakes: Readonly<Record<string, number>>
}

/** Allowed to a single response, in milliseconds. */
const ASK_MS = 10_000

/** packages/loadgen in processes that stay warm between loads; in new ones if one dies. */
export class LastingGenerator {
  readonly #cpus: readonly (number | undefined)[]
  #team: GeneratorTeam | undefined

  /** @param cpus the core of each process; undefined: any */
  constructor(cpus: readonly (number | undefined)[]) {
    this.#cpus = cpus
  }

  pids(): number[] {
    return this.#team?.pids ?? []
  }

  /** Starts the processes, unless they run. @throws {LoadError} if that is impossible */
  async start(): Promise<GeneratorTeam> {
    this.#team ??= await startTeam(this.#cpus)
    return this.#team
  }

  /** Offers one slice. @throws {LoadError} as `offer` */
  async run(plan: LoadOptions): Promise<SliceLoad> {
    const load = await this.offer(plan)
    const { requests, seconds, rate, checked, errors, bytes, handshakes, latency } = load
    return {
      ...{ requests, seconds, rate, checked, handshakes },
      errors: occurred(errors),
      ...(requests > 0 && { bytes: bytes / requests, longest: latency.max / 1000 }),
    }
  }

  /**
   * Runs one load; an aborted one keeps what was measured.
   * @throws {LoadError} if the plan cannot be done, a process died, or none can be started; the next load gets new ones
   */
  async offer(plan: LoadOptions): Promise<LoadResult> {
    const team = await this.start()
    try {
      return await team.run(plan)
    } catch (error) {
      this.#team = undefined
      await team.stop()
      throw error
    }
  }

  /**
   * Asks once.
   * @returns bytes of the response's body
   * @throws {LoadError} if there is no response with status 200
   */
  async responseLength({ target, path }: { target: Target; path: string }): Promise<number> {
    try {
      const { status, body } = await ask(target, { target: path }, { timeoutMs: ASK_MS })
      if (status === 200) return body.length
      throw new LoadError(`The response to ${path} has the status ${status}.`)
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error
      throw new LoadError(`There is no response to ${path}: ${error.message}.`)
    }
  }

  /** Ends the processes; resolves when they are gone. */
  async stop(): Promise<void> {
    const team = this.#team
    this.#team = undefined
    await team?.stop()
  }
}

/** Without the kinds that did not occur. */
export function occurred<Counts extends Readonly<Record<string, number | undefined>>>(
  errors: Counts,
): { [Kind in keyof Counts]?: number } {
  return Object.fromEntries(Object.entries(errors).filter(([, count = 0]) => count > 0)) as {
    [Kind in keyof Counts]?: number
  }
}
