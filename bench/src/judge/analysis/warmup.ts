import { pValue } from '@startgrid/stats/estimate.ts'
import { mean } from '@startgrid/stats/moments.ts'
import { commonSlope } from '@startgrid/stats/trend.ts'
import type { WarmupProfile } from '../../model/figures.ts'
import type { CellSpec, Heat, Slice } from '../../model/result.ts'
import type { CellRecord } from './record.ts'
import { serverSeconds } from './slices.ts'

/** Milliseconds of load that the app of each slice had since its launch. */
type Ages = ReadonlyMap<Slice, number>

/** An app that listens on a socket for `nginx-socket` is another launch than the one on a port. */
export function agesOf(heats: readonly Heat[], cells: readonly CellSpec[]): Ages {
  const launchOf = new Map(
    cells.map(({ id, app, topology }) => [id, `${app} ${topology === 'nginx-socket'}`]),
  )
  const ages = new Map<Slice, number>()
  for (const { slices } of heats) {
    const loaded = new Map<string, number>()
    for (const slice of slices) {
      const launch = launchOf.get(slice.cell) ?? slice.cell
      const age = loaded.get(launch) ?? 0
      ages.set(slice, age)
      loaded.set(launch, age + slice.seconds * 1000)
    }
  }
  return ages
}

/** The cost of a cell at times after its launches, pooled over them, as ratios to what each launch settled at. */
export function profileOf(record: CellRecord, ages: Ages): WarmupProfile {
  const places = new Map<string, Place[]>()
  for (const [heat, slices] of record.slices.entries()) {
    for (const [place, slice] of numbered(slices)) {
      const found = placeOf(record, heat, slice, ages)
      if (found !== null) places.set(place, [...(places.get(place) ?? []), found])
    }
  }
  return {
    lengthMs: record.cell.warmupMs,
    points: [...places.values()].map(poolPlaces).sort((a, b) => a.at - b.at),
    trend: trendOf(record, ages),
  }
}

/** One slice, against its launch. */
interface Place {
  at: number
  logRate: number
  logCpu: number | null
  discarded: boolean
}

/** The same slices of all launches have the same name. */
function numbered(slices: readonly Slice[]): [string, Slice][] {
  const seen = new Map<string, number>()
  return slices.map((slice) => {
    const number = seen.get(slice.phase) ?? 0
    seen.set(slice.phase, number + 1)
    return [`${slice.phase} ${number}`, slice]
  })
}

function placeOf(record: CellRecord, heat: number, slice: Slice, ages: Ages): Place | null {
  const rate = record.logs.rate[heat] ?? null
  if (slice.disturbed || slice.requests === 0 || rate === null) return null
  const cpu = record.logs.cpu[heat] ?? null
  const seconds = serverSeconds(record.cell, slice.cpuSeconds)
  return {
    at: ages.get(slice) ?? 0,
    logRate: Math.log(slice.requests / slice.seconds) - rate,
    logCpu:
      cpu === null || seconds === null || !(seconds > 0) ? null : Math.log(seconds / slice.requests) - cpu,
    discarded: slice.phase === 'warmup',
  }
}

function poolPlaces(places: readonly Place[]): WarmupProfile['points'][number] {
  const costs = places.flatMap(({ logCpu }) => logCpu ?? [])
  return {
    at: Math.round(mean(places.map(({ at }) => at))),
    rate: Math.exp(mean(places.map(({ logRate }) => logRate))),
    cpu: costs.length === 0 ? null : Math.exp(mean(costs)),
    discarded: places.every(({ discarded }) => discarded),
  }
}

/** A trend that is less likely without one than this is shown: with fifty cells, chance must not show some. */
const SHOWN = 0.005

/**
 * Whether a cell was still changing while it was measured: the slope that the costs of its slices, without their passes, have in common in all launches, over the
 * load between first and last slice.
 * @returns as a part of 1: 0.03 is 3 % dearer at the end; null with too few slices to tell it from chance
 */
function trendOf({ counted, residuals }: CellRecord, ages: Ages): number | null {
  const launches = counted.map((slices) =>
    slices.flatMap((slice) => {
      const y = residuals.get(slice)
      return y === undefined ? [] : [{ x: ages.get(slice) ?? 0, y }]
    }),
  )
  const slope = commonSlope(launches)
  if (slope === null || pValue(slope) >= SHOWN) return null
  return Math.expm1(slope.estimate * mean(launches.filter(({ length }) => length > 1).map(spanOf)))
}

function spanOf(points: readonly { x: number }[]): number {
  const places = points.map(({ x }) => x)
  return Math.max(...places) - Math.min(...places)
}
