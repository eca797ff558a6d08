import { readCpus } from '@startgrid/machine/cpus.ts'
import type { LoadResult } from '../report/result.ts'
import { summarizeLoad } from '../report/summary.ts'
import { type LoadGenerator, startGenerator } from './generator.ts'
import { type LoadPhase, type LoadPlan, validatePlan } from './options.ts'

/** A load as plain data, with what stays in this process. */
export interface GeneratorLoad extends LoadPlan {
  /** Ends the load at once; what was measured is kept. */
  signal?: AbortSignal | undefined
  /** As `LoadOptions.onPhase`. */
  onPhase?: ((phase: LoadPhase) => Promise<void>) | undefined
}

/**
 * One or several processes of this machine that offer one load to one target. They share connections and rate, and all open their connections
 * before any begins. Percentiles are of the merged histogram. In open loop, the parts of a Poisson process are one.
 */
export class GeneratorTeam {
  readonly #generators: readonly LoadGenerator[]
  readonly #sharesCores: boolean

  /** @param sharesCores as of `LoadPlan`, for all of them */
  constructor(generators: readonly LoadGenerator[], sharesCores: boolean) {
    this.#generators = generators
    this.#sharesCores = sharesCores
  }

  get pids(): number[] {
    return this.#generators.map(({ pid }) => pid)
  }

  /**
   * Runs one load. If it is aborted, the result has what was measured until then.
   * @throws {LoadError} like `runLoad`; also if a process died, or is running another load. The others have then ended their parts.
   */
  async run({ signal, onPhase, ...plan }: GeneratorLoad): Promise<LoadResult> {
    validatePlan(plan)
    const generators = this.#generators.slice(0, plan.connections)
    const { length: size } = generators
    const stop = new AbortController()
    const all = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal])
    const phases = {
      open: meeting(size, () => onPhase?.('open')),
      responded: meeting(size, () => onPhase?.('responded')),
    }
    const load = { ...plan, sharesCore: this.#sharesCores }
    const parts = generators.map((generator, n) =>
      generator
        .take(shareOf(load, n, size), { signal: all, onPhase: (phase) => phases[phase]() })
        .catch((error: unknown) => {
          stop.abort()
          throw error
        }),
    )
    await Promise.allSettled(parts)
    return summarizeLoad(await Promise.all(parts))
  }

  /** Ends all processes; resolves when they are gone. */
  async stop(): Promise<void> {
    await Promise.all(this.#generators.map((generator) => generator.stop()))
  }
}

/**
 * Starts a generator on each of these cores.
 * @param cpus undefined: anywhere; several then leave their cores to each other whenever nothing happens
 * @throws {LoadError} as `startGenerator`; those that were started are stopped
 */
export async function startTeam(cpus: readonly (number | undefined)[]): Promise<GeneratorTeam> {
  const starts = cpus.map((cpu) => startGenerator(cpu))
  const settled = await Promise.allSettled(starts)
  const started = settled.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  const team = new GeneratorTeam(started, cpus.length > 1 && cpus.includes(undefined))
  if (started.length < cpus.length) await team.stop()
  await Promise.all(starts)
  return team
}

/** A physical core for each of so many generators, the last ones first; undefined for all if that leaves none to the server. */
export function coresFor(generators: number): (number | undefined)[] {
  const cpus = readCpus()
  const isFirst = (number: number, siblings: readonly number[]) =>
    number === cpus.find((cpu) => siblings.includes(cpu.number))?.number
  const cores = cpus.filter(({ number, siblings }) => isFirst(number, siblings)).reverse()
  return Array.from({ length: generators }, (_, n) =>
    generators < cores.length ? cores[n]?.number : undefined,
  )
}

/** The n-th part of a load: whole connections as evenly as they can be, the rate exactly, and a seed of its own. */
export function shareOf(plan: LoadPlan, n: number, parts: number): LoadPlan {
  const { connections, rate, seed = 1 } = plan
  return {
    ...plan,
    connections: Math.floor(connections / parts) + (n < connections % parts ? 1 : 0),
    ...(rate !== undefined && { rate: rate / parts }),
    seed: (seed + n) % 2 ** 32,
  }
}

/** Where so many wait until the last one has come, and something is done. */
function meeting(size: number, done: () => Promise<void> | undefined): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let missing = size
  return () => {
    if (--missing === 0) resolve(done())
    return promise
  }
}
