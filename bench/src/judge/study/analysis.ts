import type { Interval } from '@startgrid/stats/estimate.ts'
import { rowMean } from '@startgrid/stats/estimate.ts'
import { type Fitted, fitLayouts } from '@startgrid/stats/variances.ts'
import type { GateResult } from '../../model/figures.ts'
import { METRICS, type Measured, type Metric, type Step, type Study } from '../../model/study.ts'
import type {
  StepResult,
  StudyAnalysis,
  StudyCell,
  StudyFigures,
  StudyHeat,
  StudyResult,
} from '../../model/study-result.ts'
import { compare } from '../analysis/race.ts'
import { isQuiet as isCounted } from '../analysis/slices.ts'
import { judgeErrors } from '../gates/errors.ts'
import { isVoided, judgeCell } from '../gates/index.ts'
import { failed, passed } from '../gates/verdict.ts'
import { judgeClaim } from './claim.ts'
import { isQuiet, type LaunchFigures, launchFigures, meanOf, topologyOf } from './launch-figures.ts'
import { type OpenFigures, openFigures, openRateOf } from './open-figures.ts'
import { scalingOf } from './scaling.ts'

/** What follows from the heats of a study: pure, so that a result can be analysed again. */
export function analyseStudy(study: Study, result: StudyResult): StudyAnalysis {
  const records = result.cells.filter(({ skipped }) => skipped === null).map((cell) => recordOf(cell, result))
  const field = new StudyField(records)
  const cells = records.map((record) => figuresOf(record, field))
  const openRates = Object.keys(study.races).flatMap((race) => {
    const rate = openRateOf(result.heats, race)
    return rate === undefined ? [] : [{ race, rate }]
  })
  const measured = measuredOf(cells, openRates)
  const rates = (race: string, system: string) =>
    records
      .find(({ cell }) => cell.race === race && cell.system === system)
      ?.launches.map((one) => one?.figures.rate ?? null) ?? []
  const context = { cells: result.cells, figures: cells, ratio: field.ratio, measured, rates }
  return {
    cells,
    openRates,
    claims: study.claims.map((claim) => judgeClaim(claim, context)),
    steps: (study.steps ?? []).map((step) => stepOf(step, field)),
    scaling: (study.scaling ?? []).map((scaling) => scalingOf(scaling, context)),
  }
}

/** One cell, launch by launch. */
interface StudyRecord {
  cell: StudyCell
  /** Per heat of its race; null where nothing counts. */
  launches: (LaunchFigures | null)[]
  /** Null where its latency in open loop was not asked for. */
  open: OpenFigures | null
  gates: GateResult[]
  voided: boolean
}

function recordOf(cell: StudyCell, result: StudyResult): StudyRecord {
  const heats = result.heats.filter(({ race }) => race === cell.race)
  const gates = gatesOf(cell, result)
  return {
    cell,
    launches: heats.map((heat) => launchFigures(cell, heat)),
    open: openFigures(cell, heats, result.settings),
    gates,
    voided: isVoided(gates),
  }
}

/** The gates of a race; of what a probe measured, whether it failed, and whether the machine was ours. */
function gatesOf(cell: StudyCell, { heats, conformance, driver, settings }: StudyResult): GateResult[] {
  const own = heats.filter(({ race }) => race === cell.race)
  const failures = own.flatMap((heat) =>
    heat.failures.filter(({ system }) => system === cell.system).map(({ reason }) => reason),
  )
  if (cell.workload === null)
    return failures.length > 0 ? [judgeErrors({ launches: [], failures })] : [judgeProbes(cell, own)]
  const { cores } = settings
  const launches = own.map(({ slices }) => slices.filter((slice) => slice.cell === cell.system))
  const counted = launches.map((slices) => slices.filter(isCounted))
  const evidence = {
    mode: 'native' as const,
    cell: {
      id: cell.system,
      app: cell.system,
      topology: topologyOf(cell),
      connections: cell.connections ?? 1,
      warmupMs: cell.warmupMs,
      serverBound: cell.serverBound,
      serverCores: cell.cores.given,
    },
    conformance: conformance.find(({ system }) => system === cell.system) ?? null,
    launches,
    counted,
    crowded: 0,
    cold: null,
    failures,
    driver: {
      name: cell.generator,
      version: '',
      ceiling: cell.generator === 'startgrid' ? driver.ceiling : null,
    },
    cores: cores && { server: cores.servers[0] ?? 0, generator: cores.generator },
  }
  const gates = judgeCell(evidence)
  // What has no contract (NGINX alone) was not held to one.
  return evidence.conformance === null ? gates.filter(({ gate }) => gate !== 'conformance') : gates
}

/** As `judgeInterference`: at least two launches, and half of all, have a probe that nobody disturbed. */
function judgeProbes({ system }: StudyCell, heats: readonly StudyHeat[]): GateResult {
  const launches = heats
    .map(({ probes }) => probes.filter((probe) => probe.system === system))
    .filter((probes) => probes.length > 0)
  const left = launches.filter((probes) => probes.some(isQuiet)).length
  const finding = `others disturbed ${launches.length - left} of ${launches.length} launches`
  if (left >= Math.max(Math.min(2, launches.length), launches.length / 2))
    return passed('interference', finding)
  return failed(
    'interference',
    finding,
    'Close other programs, or wait until they are done, and measure again.',
  )
}

/** The launches of all valid cells, compared within their races: log figure = system + heat + error. */
class StudyField {
  readonly #layouts = new Map<string, Fitted>()

  constructor(records: readonly StudyRecord[]) {
    const valid = Map.groupBy(
      records.filter(({ voided }) => !voided),
      ({ cell }) => cell.race,
    )
    for (const [race, own] of valid)
      for (const metric of METRICS) {
        const layout = layoutOf(own, metric)
        const [fitted] = layout.names.length > 0 ? fitLayouts([layout]) : []
        if (fitted !== undefined) this.#layouts.set(`${race} ${metric}`, fitted)
      }
  }

  /** `over` / `under`; null if one was not measured. */
  readonly ratio = (race: string, metric: Metric, over: string, under: string): Interval | null => {
    const layout = this.#layouts.get(`${race} ${metric}`)
    const [a = -1, b = -1] = [over, under].map((name) => layout?.names.indexOf(name))
    return layout === undefined || a < 0 || b < 0 ? null : compare(layout, a, b).ratio
  }

  value(race: string, metric: Metric, system: string): Interval | null {
    const layout = this.#layouts.get(`${race} ${metric}`)
    const row = layout?.names.indexOf(system) ?? -1
    return layout === undefined || row < 0 ? null : rowMean(layout, row)
  }
}

/** Systems that have the metric in at least one launch. */
function layoutOf(records: readonly StudyRecord[], metric: Metric) {
  const rows = records
    .map(({ cell, launches, open }) => ({
      name: cell.system,
      logs: launches.map((one, heat) => {
        const value = one?.figures[metric] ?? open?.launches[heat]?.[metric]
        return value !== undefined && value > 0 ? Math.log(value) : null
      }),
    }))
    .filter(({ logs }) => logs.some((log) => log !== null))
  return { names: rows.map(({ name }) => name), values: rows.map(({ logs }) => logs) }
}

function figuresOf({ cell, launches, open, gates, voided }: StudyRecord, field: StudyField): StudyFigures {
  const counted = launches.filter((one) => one !== null)
  const figures = METRICS.flatMap((metric) => {
    const value = field.value(cell.race, metric, cell.system)
    return value === null ? [] : [[metric, value] as const]
  })
  const shown = voided ? [] : counted
  return {
    race: cell.race,
    system: cell.system,
    launches: counted.length,
    openLoop: open === null ? null : open.judged,
    figures: Object.fromEntries(figures),
    cpu: { app: meanOf(shown.map(({ cpu }) => cpu.app)), proxy: meanOf(shown.map(({ cpu }) => cpu.proxy)) },
    coreUse: meanOf(shown.map(({ coreUse }) => coreUse)),
    upstreamConnections: cell.proxied ? meanOf(shown.map((one) => one.otherConnections)) : null,
    workerShares: sharesOf(shown),
    gates,
    voided,
  }
}

function sharesOf(launches: readonly LaunchFigures[]): StudyFigures['workerShares'] {
  const least = meanOf(launches.map(({ workerShares }) => workerShares?.least))
  const most = meanOf(launches.map(({ workerShares }) => workerShares?.most))
  return least === null || most === null ? null : { least, most }
}

function stepOf({ what, race, from, to }: Step, field: StudyField): StepResult {
  const [before, after] = [field.value(race, 'cpu', from), field.value(race, 'cpu', to)]
  return {
    what,
    race,
    from,
    to,
    cpu: before && after && { from: before.value, to: after.value },
    ratio: field.ratio(race, 'cpu', to, from),
  }
}

function measuredOf(cells: readonly StudyFigures[], openRates: StudyAnalysis['openRates']): Measured {
  const find = (race: string, system: string) =>
    cells.find((one) => one.race === race && one.system === system && !one.voided)
  return {
    value: (race, system, metric) => find(race, system)?.figures[metric]?.value,
    cpu: (race, system) => {
      const { app, proxy } = find(race, system)?.cpu ?? {}
      return { app: app ?? undefined, proxy: proxy ?? undefined }
    },
    upstreamConnections: (race, system) => find(race, system)?.upstreamConnections ?? undefined,
    coreUse: (race, system) => find(race, system)?.coreUse ?? undefined,
    openRate: (race) => openRates.find((one) => one.race === race)?.rate,
  }
}
