import { isProbe, type Race } from '../result/experiment.ts'
import type { Cell, Result, Settings } from '../result/result.ts'
import { fitToMachine, WARMUP_SLICE_MS } from './cells.ts'
import { openLoopsMs } from './open-loop.ts'
import { fitPasses } from './schedule.ts'

/** How long a run takes if nothing slows the machine, and how much fits into a time. All times are in milliseconds. */

/** Fewer launches give no interval. */
export const LEAST_HEATS = 2

export const MOST_HEATS = 100

/** Stopping the last servers, and the reports. */
export const ENDING_MS = 2000

/** What a run of the grid takes beside its heats: first the search for NGINX, and a look at the machine. */
export const BESIDE_MS = 8000 + ENDING_MS

/** Starting, stopping and asking for the first responses: a part for all, and one per app. */
const START_MS = { all: 400, each: 240 }

/** Opening connections and draining, per slice. */
const SLICE_OVERHEAD_MS = 14

/** What a pilot has found out of a race. */
export interface Pace {
  /** To start its systems, one after the other. */
  startMs: number
  /** Responses per second at saturation, by cell. */
  rates: ReadonlyMap<string, number>
  /** Requests per second of its open loops: the more, the shorter they may be. */
  openRate: number
}

export type Paces = ReadonlyMap<string, Pace>

/** One heat: longer than usual where systems start or respond slowly. */
export function expectedHeatMs(
  cells: readonly Cell[],
  settings: Pick<Settings, 'heats' | 'slices' | 'sliceMs' | 'openLoop'>,
  { startMs = 0, rates, openRate }: Partial<Pace> = {},
): number {
  const launches = new Set(cells.map(({ app }) => app)).size
  const measured = cells.map((cell) => ({ cell, rate: rates?.get(cell.id) ?? 0 }))
  const { passes, cells: fitted } = fitPasses(measured, settings)
  return fitted.reduce(
    (sum, { cell: { connections, warmupMs }, rate, every, durationMs }) => {
      const responseMs = rate > 0 ? (1000 * connections) / rate : 0
      const count = Math.ceil(passes / every)
      const drainMs = (count + 2) * responseMs + (count + warmupMs / WARMUP_SLICE_MS) * SLICE_OVERHEAD_MS
      return sum + warmupMs + count * durationMs + drainMs
    },
    START_MS.all + Math.max(START_MS.each * launches, startMs) + openLoopsMs(cells, settings, openRate),
  )
}

/** One heat of a race: of a probe what it says. */
export function expectedRaceMs(race: Race, cells: readonly Cell[], settings: Settings, pace?: Partial<Pace>) {
  return isProbe(race) ? race.expectedMs * cells.length : expectedHeatMs(cells, settings, pace)
}

export type Planned = Pick<Result, 'experiment' | 'cells' | 'settings'>

/** One heat of every race. */
export function roundMs({ experiment, cells, settings }: Planned, paces?: Paces): number {
  return Object.entries(experiment.races).reduce((sum, [name, race]) => {
    const own = cells.filter((cell) => cell.race === name)
    return sum + expectedRaceMs(race, own, settings, paces?.get(name))
  }, 0)
}

/** The heats that fit, 2 to 100. */
export function heatsWithin(timeMs: number, result: Planned): number {
  return Math.min(MOST_HEATS, Math.max(LEAST_HEATS, Math.floor(timeMs / roundMs(result))))
}

/** The shortest time for two heats of the grid. */
export function leastTimeMs(result: Planned): number {
  return BESIDE_MS + LEAST_HEATS * roundMs(result)
}

/** The whole run, before its systems are fitted to this machine. */
export function plannedMs(result: Planned): number {
  const { cells, settings } = structuredClone(result)
  fitToMachine(cells, null)
  const ms = settings.heats * roundMs({ ...result, cells })
  return Math.min(ms, settings.maxTimeMs ?? ms)
}
