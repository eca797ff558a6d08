import { mean } from '@startgrid/stats/moments.ts'
import { latencyHeats } from '../src/experiment/open-loop.ts'
import { createRace, RACE_SETTINGS } from '../src/experiment/race.ts'
import { createStudyResult } from '../src/experiment/result.ts'
import { analyse } from '../src/judge/analysis.ts'
import { knowsAll, WITHIN } from '../src/judge/verdict.ts'
import { runHeats } from '../src/measure/heats.ts'
import { planStarts } from '../src/measure/race.ts'
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
  warmupMs: 1250,
  systems: PAIR.map((system) => ({ system, steady: true, coreUse: 1, masked: 0 })),
  difference: null,
}

interface RaceOptions {
  /** Starts of each, judged at their end; null: as many as the time of a race by default has, with looks. */
  heats: number | null
  seed: number
}

/** Of three minutes, in milliseconds: the pilot (1.2 s of comparing, 0.5 s of starting, 7 s of load in both worlds) and the end of a race. */
const TIME = 180_000
const BESIDE = 11_000

/** What two open loops of 300 ms add to each of the first starts, in seconds: the simulated generator offers closed ones. */
const OPEN_LOOPS = 0.65

async function raceInWorld(
  world: World,
  { heats, seed }: RaceOptions,
): Promise<{ finding: Finding; heats: number; planned: number }> {
  const systems = PAIR.map((name) => ({ name }))
  const experiment = withoutOpenLoop(createRace({ systems, requests: [{ path: '/' }], connections: 32 }))
  const result: Result = {
    ...createStudyResult(experiment, { profile: 'full', heats: heats ?? LEAST, seed }, ''),
    pilots: [PILOT],
  }
  Object.assign(result.settings, RACE_SETTINGS, { cores: { server: 0, servers: [0], generator: 1 } })
  for (const cell of result.cells) cell.warmupMs = PILOT.warmupMs
  const { generator, start } = simulate(world, result)
  const rates = new Map(result.cells.map(({ id }) => [id, RATE]))
  const paces = new Map([[RACE, { startMs: START_MS, rates, openRate: RATE / 2 }]])
  const run = {
    ...silentRun(result),
    experiment,
    generator,
    start: (...which: Parameters<typeof start>) => {
      if (result.heats.length < latencyHeats(result.settings)) world.now += OPEN_LOOPS
      return start(...which)
    },
  }
  if (heats === null) {
    run.endsAt = TIME - BESIDE
    planStarts(result, { paces, leftMs: run.endsAt, fillsTime: true })
  }
  const isEnough = knowsAll(WITHIN, false)
  await onClockOf(world, () => runHeats(run, { paces, isEnough }))
  const [finding] = analyse(experiment, result).findings
  if (finding === undefined) throw new Error('The race found nothing.')
  return { finding, heats: result.heats.length, planned: result.settings.heats }
}

/** Starts that should fit, as of a real race. */
const LEAST = 10
/** Requests per second of the simulated servers, and what a start of both takes, in milliseconds. */
const RATE = 40_000
const START_MS = 340

/** The simulated generator offers closed loops. */
function withoutOpenLoop(experiment: Experiment): Experiment {
  const races = Object.entries(experiment.races).map(([name, race]) => [name, { ...race, openLoop: [] }])
  return { ...experiment, races: Object.fromEntries(races) }
}

/** Of many races, in which `after` costs `factor` times what `before` costs. */
interface RaceScore {
  /** Intervals that hold the truth: of all races, and of those that stopped early. */
  coverage: Share
  early: Share
  /** Races in which a difference is shown, and in which there is said to be none within the margin. */
  shown: Share
  alike: Share
  /** The medians of half-widths and of said differences where one is shown, as parts of 1. */
  halfWidth: number
  said: number
  /** Mean, most. */
  starts: [number, number]
}

/** @throws {RangeError} if there is no such scenario */
export async function studyRaces(
  name: string,
  { runs, factor, ...options }: RaceOptions & { runs: number; factor: number },
): Promise<RaceScore> {
  const scenario = SCENARIOS[name]
  if (scenario === undefined) throw new RangeError(`There is no scenario ${name}.`)
  const score = { coverage: new Share(), early: new Share(), shown: new Share(), alike: new Share() }
  const found: { halfWidth: number; said: number; heats: number }[] = []
  for (let index = 0; index < runs; index++) {
    const world = new World(scenario, options.seed * 1_000_003 + index, { names: PAIR, factor })
    const { finding, heats, planned } = await raceInWorld(world, {
      ...options,
      seed: options.seed * 7_919 + index,
    })
    const { value = Number.NaN, low = null, high = null } = finding.ratio ?? {}
    if (low === null || high === null) continue
    const holds = low <= 1 / factor && 1 / factor <= high
    score.coverage.add(holds)
    const isShown = finding.verdict === 'differs'
    if (isShown || finding.verdict === 'alike') if (heats < planned) score.early.add(holds)
    score.shown.add(isShown)
    score.alike.add(finding.verdict === 'alike')
    const halfWidth = halfWidthOf({ low, high }) ?? Number.NaN
    found.push({ halfWidth, said: isShown ? 1 / value - 1 : Number.NaN, heats })
  }
  const medianOf = (of: 'halfWidth' | 'said') =>
    quantile(
      found.map((one) => one[of]).filter((one) => !Number.isNaN(one)),
      0.5,
    )
  const starts = found.map(({ heats }) => heats)
  return {
    ...score,
    halfWidth: medianOf('halfWidth'),
    said: medianOf('said'),
    starts: [mean(starts), Math.max(...starts)],
  }
}
