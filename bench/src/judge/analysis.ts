import { type Experiment, isRanked, type Step } from '../result/experiment.ts'
import type { Analysis, CellFigures, StepResult } from '../result/figures.ts'
import type { Heat } from '../result/heat.ts'
import { ALL_METRICS, type MainMetric } from '../result/metrics.ts'
import { judgeClaim } from './claim.ts'
import { Comparisons } from './comparisons.ts'
import { costsOf } from './costs.ts'
import { findingsOf } from './findings.ts'
import { openRateOf } from './latencies.ts'
import { type JudgedCell, judgeCells, type Launch, type Measured, meanOf } from './launches.ts'
import { proxyCostsOf, raceOf } from './ranks.ts'
import { sinceOf } from './since.ts'
import { whyOf } from './why.ts'

const RANKED: readonly MainMetric[] = ['rate', 'cpu']

/**
 * All figures that follow from heats: pure, so that a result can be analysed again. A cell that is void gets no figures, and no other figure has its
 * numbers in it. Skipped cells are not in it at all.
 */
export function analyse(
  { systems, races, claims, steps = [], costs }: Omit<Experiment, 'name'>,
  measured: Measured,
): Analysis {
  const { heats, profiles, search } = measured
  const [twin = null] = Object.keys(systems).filter((name) => systems[name]?.twinOf !== undefined)
  const judged = judgeCells(measured)
  const comparisons = new Comparisons(judged, races)
  const cells = judged.map((one) => figuresOf(one, comparisons, heats))
  const openRates = Object.keys(races).flatMap((name) => {
    const rate = openRateOf(heats, name)
    return rate === undefined ? [] : [{ race: name, rate }]
  })
  const ranked = Object.keys(races).filter((name) => isRanked(races[name]))
  const context = { cells: measured.cells, figures: cells, ratio: comparisons.ratio }
  const findings = findingsOf(measured, twin, comparisons.compare)
  return {
    findings,
    cells,
    races: ranked.flatMap((name) =>
      RANKED.flatMap((metric) =>
        comparisons.layoutsOf(name, metric).flatMap((layout) => raceOf(layout, metric) ?? []),
      ),
    ),
    proxyCosts: ranked.flatMap((name) => {
      const own = judged.filter(({ cell }) => cell.race === name)
      return RANKED.flatMap((metric) => proxyCostsOf(own, metric))
    }),
    openRates,
    claims: claims.map((claim) => judgeClaim(claim, context)),
    steps: steps.map((step) => stepOf(step, comparisons)),
    ...(costs !== undefined && {
      costs: costs.map((one) => costsOf(one, (system) => cpuOf(judged, one.race, system))),
    }),
    ...(profiles !== undefined && {
      whys: findings.flatMap((finding) => whyOf(finding, cells, profiles) ?? []),
    }),
    ...(search?.some(({ starts, skipped }) => starts.length > 0 || skipped) && { since: sinceOf(search) }),
  }
}

/** CPU seconds per request of a valid system, by heat of its race; null where nothing counts. */
function cpuOf(judged: readonly JudgedCell[], race: string, system: string): (number | null)[] {
  const own = judged.find((one) => one.void === null && one.cell.race === race && one.cell.system === system)
  const logs = (own?.launches ?? []).map((launch) => launch?.logs.cpu)
  return logs.map((log) => (log === undefined ? null : Math.exp(log)))
}

function figuresOf(
  { cell, launches, slices, openLoops, void: reason }: JudgedCell,
  comparisons: Comparisons,
  heats: readonly Heat[],
): CellFigures {
  const { id, race, system } = cell
  const counted = launches.filter((one) => one !== null)
  const shown = reason === null ? counted : []
  const isProxied = cell.topology !== 'direct'
  const figures = ALL_METRICS.flatMap((metric) => {
    const value = comparisons.value(race, metric, system)
    return value === null ? [] : [[metric, value] as const]
  })
  const cpu = (part: keyof Launch['cpu']) => meanOf(shown.map((one) => one.cpu[part]))
  const handshakes = [...new Set(shown.flatMap((one) => one.handshakes))]
  return {
    cell: id,
    race,
    system,
    launches: counted.length,
    slices,
    openLoop: openLoops?.judged ?? null,
    figures: Object.fromEntries(figures),
    cpu: { app: cpu('app'), proxy: cpu('proxy') },
    coreUse: meanOf(shown.map(({ coreUse }) => coreUse)),
    peakMemory: {
      app: reason === null ? peakMemory(heats, race, cell.app) : null,
      proxy: reason === null && isProxied ? peakMemory(heats, race, 'nginx') : null,
    },
    upstreamConnections: isProxied ? meanOf(shown.map((one) => one.otherConnections)) : null,
    ...(handshakes.length > 0 && { handshakes }),
    void: reason,
  }
}

/** The highest of all launches of its race. */
function peakMemory(heats: readonly Heat[], race: string, app: string): number | null {
  const peaks = heats
    .filter((heat) => heat.race === race)
    .flatMap(({ launches }) => launches.flatMap((one) => (one.app === app ? (one.peakMemory ?? []) : [])))
  return peaks.length === 0 ? null : Math.max(...peaks)
}

function stepOf({ ratios, ...step }: Step, comparisons: Comparisons): StepResult {
  const { race, from, to } = step
  const before = comparisons.value(race, 'cpu', from)
  const after = comparisons.value(race, 'cpu', to)
  return {
    ...step,
    cpu: before && after && { from: before.value, to: after.value },
    // Where the system does not tell CPU time, a busy core has a time per response.
    ratio: comparisons.ratio(race, 'cpu', to, from) ?? comparisons.ratio(race, 'rate', from, to),
    ...(ratios && {
      ratios: Object.fromEntries(ratios.map((metric) => [metric, comparisons.ratio(race, metric, to, from)])),
    }),
  }
}
