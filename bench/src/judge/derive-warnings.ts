import { formatPercent } from '@startgrid/cli/numbers.ts'
import { listOf, plural } from '@startgrid/cli/text.ts'
import { METRICS } from '../result/metrics.ts'
import { type Result, trialsOf, type Warning } from '../result/result.ts'
import { keptSlices } from './passes.ts'
import { isCrowded } from './trial.ts'

/** What a result itself tells its reader to beware of: pure, so that a report can be made again. */
export function deriveWarnings(result: Result): Warning[] {
  const as = (kind: Warning['kind'], texts: readonly string[]) => texts.map((text) => ({ kind, text }))
  return [
    ...aboutCommands(result),
    ...as('suspect', suspects(result)),
    ...as('disturbed', [...excluded(result), ...crowded(result), ...disturbedLoads(result)]),
    ...as('accounting', isAllElsewhere(result) ? [] : accounting(result)),
  ]
}

function aboutCommands({ experiment, cells, heats, settings: { cores } }: Result): Warning[] {
  const systems = Object.entries(experiment.systems)
  const slices = heats.flatMap((heat) => heat.slices)
  const launches = heats.flatMap((heat) => heat.launches)
  const running = systems.flatMap(([name, { running: origin }]) => (origin === undefined ? [] : name))
  const unaccounted = running.filter((name) => {
    const own = new Set(cells.flatMap(({ id, app }) => (app === name ? id : [])))
    return slices.every(({ cell, cpuSeconds }) => !own.has(cell) || cpuSeconds.app === null)
  })
  const warnings: Warning[] = []
  const warn = (kind: Warning['kind'], text: string) => warnings.push({ kind, text })
  if (unaccounted.length > 0)
    warn(
      'external',
      `Nobody accounts for ${listOf(unaccounted)}: CPU and memory there are not known, nor whether the server was what limited the rate. The network is in every figure.`,
    )
  if (running.length > 0)
    warn(
      'external',
      `Of ${listOf(running)}, which ran before this race, everything was measured on one launch: by how much launches differ is in no interval. Restart it and measure again before you trust a close difference.`,
    )
  for (const [name] of cores === null ? [] : systems) {
    const { length: given } = cores?.servers ?? [cores?.server]
    const processes = Math.max(0, ...launches.map(({ app, processes: own = 0 }) => (app === name ? own : 0)))
    if (processes > given)
      warn(
        'shared-core',
        `${processes} processes of ${name} share ${plural(given, 'core')}: they wait for each other, as they would not where it runs. Give it more with --cores, on a machine that has them.`,
      )
  }
  return warnings
}

/** A difference was found where none exists. */
function suspects({ analysis }: Result): string[] {
  return (analysis?.races ?? []).flatMap(({ control, metric }) => {
    if (control === null || !control.suspect || control.p === null) return []
    const { twin, ratio, p } = control
    return `The run is suspect: ${twin} differs by ${formatPercent(Math.abs(ratio.value - 1))} in ${METRICS[metric].heading} from the app that it equals (p = ${p.toPrecision(1)}). Measure again on a quieter machine.`
  })
}

function excluded({ heats }: Result): string[] {
  const { length: all } = heats.flatMap((heat) => heat.slices).filter(({ phase }) => phase === 'measure')
  const left = all - heats.reduce((sum, heat) => sum + keptSlices(heat).slices.length, 0)
  if (left === 0) return []
  return [
    `Other programs visibly used the cores during ${left} of ${plural(all, 'slice')}. These slices do not count.`,
  ]
}

/** Leaving out what others took would have left too little. */
function crowded({ heats }: Result): string[] {
  const cells = new Set(heats.flatMap((heat) => [...keptSlices(heat).crowded])).size
  if (cells === 0) return []
  return [
    `In at least one launch of ${plural(cells, 'cell')} others took the cores during most slices, so all slices count. Close other programs before you trust a close difference.`,
  ]
}

/** The figures of each kind decide what counts. */
function disturbedLoads(result: Result): string[] {
  const loads = trialsOf(result)
  const count = loads.filter((load) => load.disturbed).length
  if (count === 0) return []
  const cells = [...Map.groupBy(loads, ({ cell }) => cell).values()].filter(isCrowded).length
  const rest =
    cells === 0
      ? 'These do not count.'
      : `These do not count, except in ${plural(cells, 'cell')} where most loads are so. Close other programs before you trust latencies.`
  return [
    `Other programs visibly used the cores during ${count} of ${plural(loads.length, 'open loop')}. ${rest}`,
  ]
}

/** Of a server elsewhere nothing can be known: another warning says so. */
function isAllElsewhere({ experiment }: Result): boolean {
  const systems = Object.values(experiment.systems)
  return systems.length > 0 && systems.every(({ running }) => running !== undefined)
}

function accounting({ heats }: Result): string[] {
  const measured = heats.flatMap(({ slices, trials }) => [...slices, ...trials])
  if (measured.length === 0 || measured.some(({ disturbance }) => disturbance.serverForeign !== null))
    return []
  if (measured.some(({ disturbance }) => disturbance.serverWait !== null))
    return [
      'This system does not say what others use of a core: a slice that they disturbed was only noticed where a server or the generator had to wait.',
    ]
  if (measured.some(({ cpuSeconds }) => cpuSeconds.app !== null))
    return [
      'Costs are known, but this system does not say what others used meanwhile: slices that they disturbed were not noticed.',
    ]
  return [
    'This system does not say what CPU its processes use, nor what others take: costs are missing, and disturbed slices were not noticed.',
  ]
}
