import { formatPercent, formatRatio } from '@startgrid/cli/numbers.ts'
import { listOf, plural, present } from '@startgrid/cli/text.ts'
import { median } from '@startgrid/stats/moments.ts'
import { LEAST_HEATS } from '../experiment/time.ts'
import type { Result, Warning } from '../result/result.ts'
import { isCrowded } from './disturbance.ts'
import { keptSlices } from './passes.ts'

/** What a result itself tells its reader to beware of: pure, so that a report can be made again. */
export function deriveWarnings(result: Result): Warning[] {
  const as = (kind: Warning['kind'], texts: readonly string[]) => texts.map((text) => ({ kind, text }))
  return [
    ...as('external', external(result)),
    ...as('shared-core', sharedCores(result)),
    ...as('disturbed', disturbed(result)),
    ...as('accounting', accounting(result)),
    ...as('rising', rising(result)),
    ...as('rare', rare(result)),
  ]
}

function external({ experiment, cells, heats }: Result): string[] {
  const systems = Object.entries(experiment.systems)
  const running = systems.flatMap(([name, { running: origin }]) => (origin === undefined ? [] : name))
  const slices = heats.flatMap((heat) => heat.slices)
  const unaccounted = running.filter((name) => {
    const own = new Set(cells.flatMap(({ id, app }) => (app === name ? id : [])))
    return slices.every(({ cell, cpuSeconds }) => !own.has(cell) || cpuSeconds.app === null)
  })
  if (running.length === 0) return []
  const measured = `Of ${listOf(running)}, which ran before this race, everything was measured on one launch: by how much launches differ is in no interval. Restart it and measure again before you trust a close difference.`
  if (unaccounted.length === 0) return [measured]
  return [
    `Nobody accounts for ${listOf(unaccounted)}: CPU and memory there are not known, nor whether the server was what limited the rate. The network is in every figure.`,
    measured,
  ]
}

/** More processes or threads that work than there are cores for. */
function sharedCores({ experiment, heats, settings: { cores } }: Result): string[] {
  if (cores === null) return []
  const given = cores.servers?.length ?? 1
  const launches = heats.flatMap((heat) => heat.launches)
  const crowds = Object.keys(experiment.systems).flatMap((name) => {
    const own = launches.filter(({ app }) => app === name)
    const processes = Math.max(0, ...own.map((one) => one.processes ?? 0))
    const threads = Math.max(0, ...own.map((one) => one.threads ?? 0))
    const [count, what] = processes > given ? [processes, 'processes'] : [threads, 'threads']
    return count > given ? [{ name, count, what }] : []
  })
  return [...Map.groupBy(crowds, (one) => one.what)].map(([what, own]) => {
    const counts = own.map(({ count }) => count)
    const most = Math.max(...counts)
    const many = most > Math.min(...counts) ? `Up to ${most}` : most
    const names = own.length > 3 ? `${own.length} systems` : listOf(own.map(({ name }) => name))
    const all = own.length > 1 ? `each of ${names}` : names
    return `${many} ${what} of ${all} share ${plural(given, 'core')}: they wait for each other, as they would not where it runs. Give it more with --cores, on a machine that has them.`
  })
}

/** What others visibly took, and what counts all the same, because too little would be left without it. */
function disturbed({ heats }: Result): string[] {
  const kept = heats.map(keptSlices)
  const { length: all } = heats.flatMap((heat) => heat.slices.filter(({ phase }) => phase === 'measure'))
  const left = all - kept.reduce((sum, { slices }) => sum + slices.length, 0)
  const crowded = new Set(kept.flatMap((heat) => [...heat.crowded])).size
  const loads = heats.flatMap(({ trials }) => trials)
  const taken = loads.filter((load) => load.disturbed).length
  const cells = [...Map.groupBy(loads, ({ cell }) => cell).values()].filter(isCrowded).length
  const except =
    cells === 0
      ? ''
      : `, except in ${plural(cells, 'cell')} where most loads are so. Close other programs before you trust latencies`
  const used = 'Other programs visibly used the cores during'
  return present([
    left > 0 && `${used} ${left} of ${plural(all, 'slice')}. These slices do not count.`,
    crowded > 0 &&
      `In at least one launch of ${plural(crowded, 'cell')} others took the cores during most slices, so all slices count. Close other programs before you trust a close difference.`,
    taken > 0 && `${used} ${taken} of ${plural(loads.length, 'open loop')}. These do not count${except}.`,
  ])
}

/** From this factor on a cost that rises is told, if it does so in most starts. */
const RISING = 1.1
const MOST_STARTS = 0.8

/** Systems of commands whose requests cost more and more while they run. */
function rising({ cells, heats, pilots }: Result): string[] {
  if (pilots.length === 0) return []
  return cells.flatMap(({ id, title, race }) => {
    const factors = heats.flatMap(({ slices }) => {
      const costs = slices.flatMap(({ cell, phase, cpuSeconds, seconds, requests }) =>
        cell === id && phase === 'measure' && requests > 0 ? (cpuSeconds.app ?? seconds) / requests : [],
      )
      const third = Math.floor(costs.length / 3)
      return third < 2 ? [] : median(costs.slice(-third)) / median(costs.slice(0, third))
    })
    const rise = factors.filter((factor) => factor > RISING)
    if (factors.length < LEAST_HEATS || rise.length < MOST_STARTS * factors.length) return []
    return `A request of ${title} costs ${formatPercent(median(factors) - 1)} more at the end of a start than at its beginning (${race}): something grows while it runs, such as a leak or a cache, and its figures depend on how long it ran.`
  })
}

/** Pairs of which the whole says something else than the robust figure that decides: some moments of one cost far more. */
function rare({ analysis }: Result): string[] {
  return (analysis?.findings ?? []).flatMap(({ race, over, under, ratio, whole }) => {
    const { low, high } = ratio ?? { low: null, high: null }
    if (whole === null || low === null || high === null || (low <= whole && whole <= high)) return []
    return `Rare moments cost one of ${over} and ${under} far more: with all of them the ratio is ${formatRatio(whole)}, outside of the interval of what decides (${race}). Look at its longest waits.`
  })
}

/** Not of servers elsewhere: another warning says so. */
function accounting({ experiment, heats }: Result): string[] {
  const measured = heats.flatMap(({ slices, trials }) => [...slices, ...trials])
  const isHere = Object.values(experiment.systems).some(({ running }) => running === undefined)
  if (!isHere || measured.length === 0 || measured.some((one) => one.disturbance.serverForeign !== null))
    return []
  return ['This system does not say what others use of a core: slices that they disturbed may count.']
}
