import type { LoadResult } from '../report/result.ts'
import { summarizeLoad } from '../report/summary.ts'
import { sharedNow } from './clock.ts'
import {
  type ClockOffset,
  type GeneratorLoad,
  type GeneratorOptions,
  type LoadGenerator,
  startGenerator,
} from './generator.ts'
import { LoadError } from './load-error.ts'
import type { Measurement } from './measurement.ts'
import { shareOut } from './shares.ts'

/** A load of 50 ms cannot be divided among generators that may begin so many milliseconds apart. */
const MOST_APART_MS = 5

/** Round trips of which the shortest compares two clocks. */
const ROUND_TRIPS = 5

/** Milliseconds after which clocks are compared again: at 100 ppm, they then differ by another half of a millisecond. */
const CLOCKS_KEPT_MS = 5_000

export interface TeamMember {
  /** What errors call it, such as `generator 2 on node3`. */
  readonly name: string
  readonly generator: LoadGenerator
}

/** A load that was not offered as it was asked for. Its figures do not count, but the same generators can offer the next one. */
export class VoidLoadError extends LoadError {
  override name = 'VoidLoadError'
}

/**
 * Generators on one or several machines that offer one load to one target: all open their connections, then all begin at an agreed
 * time. Counts are summed and histograms merged; percentiles are of the merged histogram.
 */
export class GeneratorTeam {
  readonly #members: readonly TeamMember[]
  #clocks: { at: number; offsets: readonly ClockOffset[] } | undefined

  constructor(members: readonly TeamMember[]) {
    this.#members = members
  }

  /**
   * Runs one load. The first member gets the extra connection or request where they cannot be shared evenly.
   * @throws {VoidLoadError} if a member began late, or the clocks cannot be compared well enough; it names the member
   * @throws {LoadError} if a member cannot offer its part, or died; the others have then ended theirs
   */
  async run({ signal, onPhase, ...plan }: GeneratorLoad): Promise<LoadResult> {
    const shares = shareOut(plan, this.#members.length)
    // One alone begins when it is told.
    const isAlone = this.#members.length === 1
    const offsets = isAlone ? [] : await this.#compareClocks()
    const stop = new AbortController()
    const all = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal])
    const opened = new Barrier(this.#members.length)
    const done = new Barrier(this.#members.length)
    const begin = once(async () => {
      await onPhase?.('open')
      if (isAlone) return undefined
      // The message has to reach all before.
      return sharedNow() + MOST_APART_MS + 2 * Math.max(...offsets.map(({ uncertaintyMs }) => uncertaintyMs))
    })
    const end = once(async () => {
      await onPhase?.('responded')
      return undefined
    })
    const parts = this.#members.map(async ({ name, generator }, n) => {
      const share = shares[n]
      if (share === undefined) throw new LoadError(`There is no load for ${name}.`)
      try {
        return await generator.take(share, {
          signal: all,
          onPhase: async (phase) => {
            await (phase === 'open' ? opened : done).arrive(all)
            if (phase === 'responded') return end()
            const at = await begin()
            return at === undefined ? undefined : at + (offsets[n]?.offsetMs ?? 0)
          },
        })
      } catch (error) {
        stop.abort()
        if (error instanceof LoadError) throw new LoadError(`${capitalised(name)}: ${error.message}`)
        throw error
      }
    })
    const settled = await Promise.allSettled(parts)
    const measured = settled.map((part) => {
      if (part.status === 'rejected') throw part.reason
      return part.value
    })
    if (!all.aborted) this.#refuseLate(measured)
    return summarizeLoad(measured, plan.seriesMs, (n) => this.#members[n]?.name ?? `generator ${n + 1}`)
  }

  /** Asks for a path once, from the first member. @throws {LoadError} as `LoadGenerator.learn` */
  learn(plan: Parameters<LoadGenerator['learn']>[0]): ReturnType<LoadGenerator['learn']> {
    const [first] = this.#members
    if (first === undefined) throw new LoadError('There is no generator.')
    const { target, path, reach, timeoutMs } = plan
    return first.generator.learn({
      target,
      path,
      ...(reach !== undefined && { reach }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    })
  }

  /** Ends all processes; resolves when they are gone. */
  async stop(): Promise<void> {
    await Promise.all(this.#members.map(({ generator }) => generator.stop()))
  }

  async #compareClocks(): Promise<readonly ClockOffset[]> {
    if (this.#clocks !== undefined && sharedNow() - this.#clocks.at < CLOCKS_KEPT_MS)
      return this.#clocks.offsets
    const offsets = await Promise.all(
      this.#members.map(({ generator }) => generator.compareClocks(ROUND_TRIPS)),
    )
    offsets.forEach(({ uncertaintyMs }, n) => {
      if (uncertaintyMs <= MOST_APART_MS) return
      throw new VoidLoadError(
        `The clock of ${this.#members[n]?.name} is known to ±${uncertaintyMs.toFixed(1)} ms only, but must be to ±${MOST_APART_MS} ms.`,
      )
    })
    this.#clocks = { at: sharedNow(), offsets }
    return offsets
  }

  #refuseLate(measured: readonly Measurement[]): void {
    const late = measured.map(({ lateMs = 0 }) => lateMs)
    const latest = late.indexOf(Math.max(...late))
    const ms = late[latest] ?? 0
    if (ms <= MOST_APART_MS) return
    const name = capitalised(this.#members[latest]?.name ?? '')
    throw new VoidLoadError(`${name} began ${ms.toFixed(1)} ms after the agreed time.`)
  }
}

/**
 * Starts the generators of a team.
 * @throws {LoadError} as `startGenerator`; it names the one that cannot be started, and the others are stopped
 */
export async function startTeam(
  members: readonly { name: string; options: GeneratorOptions }[],
): Promise<GeneratorTeam> {
  const starts = await Promise.allSettled(
    members.map(async ({ name, options }) => ({ name, generator: await startGenerator(options) })),
  )
  const started = starts.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  const failed = starts.findIndex(({ status }) => status === 'rejected')
  const failure = starts[failed]
  if (failure?.status !== 'rejected') return new GeneratorTeam(started)
  await Promise.all(started.map(({ generator }) => generator.stop()))
  const { reason } = failure
  if (!(reason instanceof LoadError)) throw reason
  throw new LoadError(`${capitalised(members[failed]?.name ?? '')}: ${reason.message}`)
}

/** Where all wait until the last has come. */
class Barrier {
  readonly #all = Promise.withResolvers<void>()
  #missing: number

  constructor(size: number) {
    this.#missing = size
  }

  /** Resolves when all have arrived, or after an abort. */
  arrive(signal: AbortSignal): Promise<void> {
    if (--this.#missing === 0 || signal.aborted) this.#all.resolve()
    signal.addEventListener('abort', () => this.#all.resolve(), { once: true })
    return this.#all.promise
  }
}

function once<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let result: Promise<Value> | undefined
  return () => {
    result ??= work()
    return result
  }
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
