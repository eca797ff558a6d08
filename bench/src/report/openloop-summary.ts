import { formatMs, formatPercent, formatRate } from '@startgrid/cli/numbers.ts'
import type { LatencyFigures, LatencyLevel } from '../model/figures.ts'
import { nameOf } from '../model/names.ts'
import type { CellSpec, OpenLoopResult } from '../model/result.ts'

/** What an open-loop result says: a sentence per role and topology, and how many cells are void. */
export function summariseOpenLoop(result: OpenLoopResult): string[] {
  switch (result.kind) {
    case 'capacity':
      return byRace(result, result.analysis, (cells) => {
        const [best] = cells
          .flatMap(({ spec, rate }) => (rate === null ? [] : [{ spec, rate: rate.value }]))
          .toSorted((a, b) => b.rate - a.rate)
        return (
          best &&
          `${nameOf(best.spec)} goes farthest: ${formatRate(best.rate)} req/s with p99 within ${result.settings.p99Ms} ms`
        )
      })
    case 'latency':
      return byRace(result, result.analysis, describeLatency)
    case 'overload':
      return byRace(result, result.analysis, (cells) => {
        const shares = cells.flatMap(({ goodputShare }) => goodputShare ?? [])
        if (shares.length === 0) return undefined
        const isTarget = result.mode === 'target'
        const [low, high] = [formatPercent(Math.min(...shares)), formatPercent(Math.max(...shares))]
        return `under twice their capacity${isTarget ? '' : ', with load shedding off'}, apps still deliver ${low === high ? low : `${low.replace(' %', '')} to ${high}`} of it`
      })
  }
}

function describeLatency(cells: readonly (LatencyFigures & { spec: CellSpec })[]): string | undefined {
  const sorted = cells
    .flatMap(({ spec, levels }) => {
      const p99 = commonP99(levels)
      return p99 === null ? [] : [{ spec, ...p99 }]
    })
    .toSorted((a, b) => a.ms - b.ms)
  const [first, last] = [sorted[0], sorted.at(-1)]
  return (
    first &&
    last &&
    `at ${formatRate(first.offered)} req/s for all, p99 is from ${formatMs(first.ms)} ms (${nameOf(first.spec)}) ` +
      `to ${formatMs(last.ms)} ms (${nameOf(last.spec)})`
  )
}

function commonP99(levels: readonly LatencyLevel[]): { ms: number; offered: number } | null {
  const level = levels.find((one) => one.level === 'common')
  const ms = level?.percentiles.find(({ percentile }) => percentile === 99)?.ms ?? null
  return level === undefined || level.voidedBecause !== null || ms === null
    ? null
    : { ms, offered: level.offered }
}

/** @param describe what is said of the cells that are not void; undefined for nothing */
function byRace<Figures extends { cell: string; voidedBecause: string | null }>(
  { cells }: OpenLoopResult,
  figures: readonly Figures[] | null,
  describe: (cells: readonly (Figures & { spec: CellSpec })[]) => string | undefined,
): string[] {
  const valid = (figures ?? []).flatMap((one) => {
    const spec = cells.find(({ id }) => id === one.cell)
    return spec === undefined || one.voidedBecause !== null ? [] : [{ ...one, spec }]
  })
  return [...Map.groupBy(valid, ({ spec: { role, topology } }) => `${role} ${topology}`)].flatMap(
    ([name, group]) => {
      const sentence = describe(group)
      return sentence === undefined ? [] : [`${name}: ${sentence}.`]
    },
  )
}
