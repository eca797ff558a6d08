import { createRace, RACE_SETTINGS } from '../src/experiment/race.ts'
import { createStudyResult } from '../src/experiment/result.ts'
import { analyse } from '../src/judge/analysis.ts'
import { runHeats } from '../src/measure/heats.ts'
import type { Experiment } from '../src/result/experiment.ts'
import type { Finding, PilotRecord } from '../src/result/figures.ts'
import type { Result } from '../src/result/result.ts'
import { onClockOf, silentRun, simulate } from './method.ts'
import { SCENARIOS } from './scenarios.ts'
import { halfWidthOf, quantile, Share } from './score.ts'
import { World } from './world.ts'

/** Races of two commands, as `pnpm bench race` runs them. Only the pilot is left out: the rate decides. */

const PAIR = ['before', 'after'] as const
const RACE = 'GET /'

const PILOT: PilotRecord = {
  race: RACE,
  decides: 'rate',
  warmupMs: 1000,
  systems: PAIR.map((system) => ({ system, steady: true, coreUse: 1, masked: 0 })),
  difference: null,
}

interface RaceOptions {
  heats: number
  precision: number | null
  seed: number
}

async function raceInWorld(
  world: World,
  { heats, precision, seed }: RaceOptions,
): Promise<{ finding: Finding; heats: number }> {
  const systems = PAIR.map((name) => ({ name }))
  const experiment = withoutOpenLoop(createRace({ systems, requests: [{ path: '/' }], connections: 32 }))
  const result: Result = {
    ...createStudyResult(experiment, { profile: 'full', heats, seed }, ''),
    pilots: [PILOT],
  }
  Object.assign(result.settings, RACE_SETTINGS, { cores: { server: 0, servers: [0], generator: 1 } })
  if (precision !== null) result.settings.precision = precision
  for (const cell of result.cells) cell.warmupMs = PILOT.warmupMs
  const { generator, start } = simulate(world, result)
  const run = { ...silentRun(result), experiment, start, generator }
  await onClockOf(world, () => runHeats(run))
  const [finding] = analyse(experiment, result).findings
  if (finding === undefined) throw new Error('The race found nothing.')
  return { finding, heats: result.heats.length }
}

/** The simulated generator offers closed loops. */
function withoutOpenLoop(experiment: Experiment): Experiment {
  const races = Object.entries(experiment.races).map(([name, race]) => [name, { ...race, openLoop: [] }])
  return { ...experiment, races: Object.fromEntries(races) }
}

/** Of many races, in which `after` costs `factor` times what `before` costs. */
export interface RaceScore {
  /** Intervals that hold the truth. */
  coverage: Share
  /** Races in which a difference is shown. */
  shown: Share
  /** Medians, as parts of 1: of half-widths, and of the difference that is said to be found in 4 of 5 runs. */
  halfWidth: number
  smallest: number
  /** Median and most. */
  heats: [number, number]
}

/** @throws {RangeError} if there is no such scenario */
export async function studyRaces(
  name: string,
  { runs, factor, ...options }: RaceOptions & { runs: number; factor: number },
): Promise<RaceScore> {
  const scenario = SCENARIOS[name]
  if (scenario === undefined) throw new RangeError(`There is no scenario ${name}.`)
  const score = { coverage: new Share(), shown: new Share() }
  const found: { halfWidth: number; smallest: number; heats: number }[] = []
  for (let index = 0; index < runs; index++) {
    const world = new World(scenario, options.seed * 1_000_003 + index, { names: PAIR, factor })
    const { finding, heats } = await raceInWorld(world, { ...options, seed: options.seed * 7_919 + index })
    const { low, high } = finding.ratio ?? { low: null, high: null }
    if (low === null || high === null) continue
    score.coverage.add(low <= 1 / factor && 1 / factor <= high)
    score.shown.add((finding.pAdjusted ?? 1) < 0.05)
    const halfWidth = halfWidthOf({ low, high }) ?? Number.NaN
    found.push({ halfWidth, smallest: (finding.smallest ?? Number.NaN) - 1, heats })
  }
  const at = (of: keyof (typeof found)[number], part = 0.5) =>
    quantile(
      found.map((one) => one[of]),
      part,
    )
  return {
    ...score,
    halfWidth: at('halfWidth'),
    smallest: at('smallest'),
    heats: [at('heats'), at('heats', 1)],
  }
}
