import { type Interval, rowMean, toInterval, withComponents } from '@startgrid/stats/estimate.ts'
import { mean, sampleVariance } from '@startgrid/stats/moments.ts'
import { type Fitted, fitLayouts } from '@startgrid/stats/variances.ts'
import type { Cell } from '../../model/cell.ts'
import { type Experiment, METRICS, type Measured, type Metric, type Step } from '../../model/experiment.ts'
import type { StepResult, StudyAnalysis, StudyFigures } from '../../model/figures.ts'
import type { StudyResult } from '../../model/result.ts'
import { compare } from '../analysis/race.ts'
import { meanOf } from '../analysis/slices.ts'
import { evidenceOf, judgeCells } from '../analysis.ts'
import { whyVoid } from '../gates.ts'
import { judgeClaim } from './claim.ts'
import { costsOf } from './costs.ts'
import { findingsOf } from './findings.ts'
import { type LaunchFigures, loadFigures, probeFigures } from './launch-figures.ts'
import { type OpenFigures, openFigures, openRateOf } from './open-figures.ts'

/** What follows from the heats of a study: pure, so that a result can be analysed again. */
export function analyseStudy(study: Experiment, result: StudyResult): StudyAnalysis {
  const records = recordsOf(result)
  // The spread of the first heats said how many follow. By the spread of all, intervals would hold the truth in 93.4 % only (docs/race.md).
  const spreadFrom = result.race?.precision ? result.settings.heats : undefined
  const layouts = new StudyLayouts(records, spreadFrom)
  const cells = records.map((record) => figuresOf(record, layouts))
  const openRates = Object.keys(study.races).flatMap((race) => {
    const rate = openRateOf(result.heats, race)
    return rate === undefined ? [] : [{ race, rate }]
  })
  const measured = measuredOf(cells, openRates)
  const { race } = result
  const context = { cells: result.cells, figures: cells, ratio: layouts.ratio, measured }
  return {
    ...(race !== undefined && {
      findings: findingsOf(race.pilots, race.twin, layouts.compare, (name) => takenIn(result, name)),
    }),
    cells,
    openRates,
    claims: study.claims.map((claim) => judgeClaim(claim, context)),
    steps: (study.steps ?? []).map((step) => stepOf(step, layouts)),
    ...(study.costs !== undefined && {
      costs: study.costs.map((one) => costsOf(one, (system) => cpuOf(records, one.race, system))),
    }),
  }
}

function takenIn({ cells, heats }: StudyResult, race: string): number | null {
  const own = new Set(cells.flatMap((cell) => (cell.race === race ? cell.id : [])))
  const parts = heats
    .flatMap(({ slices }) => slices)
    .filter(({ cell, phase }) => phase === 'measure' && own.has(cell))
    .flatMap(({ disturbance: { serverForeign } }) => serverForeign ?? [])
  return parts.length === 0 ? null : mean(parts)
}

/** CPU seconds per request of a valid system, by heat of its race; null where nothing counts. */
function cpuOf(records: readonly JudgedSystem[], race: string, system: string): (number | null)[] {
  const own = records.find((one) => one.void === null && one.cell.race === race && one.cell.system === system)
  return (own?.launches ?? []).map((launch) => launch?.figures.cpu ?? null)
}

/** One cell, launch by launch. */
interface JudgedSystem {
  cell: Cell
  /** Per heat of its race; null where nothing counts. */
  launches: (LaunchFigures | null)[]
  /** Null where its latency in open loop was not asked for. */
  open: OpenFigures | null
  /** Why it does not count: a clause. */
  void: string | null
}

/** As the grid judges its cells; probes have no slices to be judged by. */
function recordsOf(result: StudyResult): JudgedSystem[] {
  const { cells, heats, settings } = result
  const tried = cells.filter(({ skipped }) => skipped === null)
  const loaded = tried.filter(({ workload }) => workload !== null)
  const { judged, shown } = judgeCells(loaded, heats, (record) => {
    return whyVoid(evidenceOf(record, result))
  })
  return tried.map((cell) => {
    const found = judged.find(({ record }) => record.cell === cell)
    if (found === undefined) {
      const failures = heats.flatMap((heat) => heat.failures.filter((one) => one.cell === cell.id))
      return {
        ...{ cell, launches: probeFigures(cell, heats), open: null },
        void: failures[0]?.reason ?? null,
      }
    }
    const { record } = found
    const valid = shown.find((one) => one.cell === cell) ?? record
    const own = heats.filter(({ race }) => race === cell.race)
    const open = openFigures(cell, own, settings)
    return { cell, launches: loadFigures(valid, heats), open, void: found.void }
  })
}

/** The launches of all valid cells, compared within their races: log figure = system + heat + error. */
class StudyLayouts {
  readonly #layouts = new Map<string, Fitted>()

  /** @param spreadFrom heats whose spread says how sure the means of all are (Stein 1945); default all */
  constructor(records: readonly JudgedSystem[], spreadFrom?: number) {
    const valid = Map.groupBy(
      records.filter((one) => one.void === null),
      ({ cell }) => cell.race,
    )
    for (const [race, own] of valid)
      for (const metric of METRICS) {
        const layout = layoutOf(own, metric)
        const [fitted] = layout.names.length > 0 ? fitLayouts([layout]) : []
        if (fitted === undefined) continue
        const values = layout.values.map((logs) => logs.slice(0, spreadFrom))
        const variances = fitLayouts([{ ...layout, values }])[0]?.variances ?? null
        this.#layouts.set(`${race} ${metric}`, { ...fitted, variances })
      }
  }

  /** `over` / `under`; null if one was not measured. */
  readonly ratio = (
    race: string,
    metric: Metric,
    over: string,
    under: string,
    against = race,
  ): Interval | null =>
    race === against
      ? (this.compare(race, metric, over, under)?.ratio ?? null)
      : this.#across([race, over], [against, under], metric)

  /** Of two races, whose heats are not the same: the difference of two means, each with its own spread (Welch 1947, Biometrika 34:28). */
  #across(
    over: readonly [string, string],
    under: readonly [string, string],
    metric: Metric,
  ): Interval | null {
    const [a, b] = [over, under].map(([race, name]) => {
      const layout = this.#layouts.get(`${race} ${metric}`)
      return (layout?.values[layout.names.indexOf(name)] ?? []).filter((log) => log !== null)
    })
    if (!a?.length || !b?.length) return null
    const estimate = mean(a) - mean(b)
    if (a.length < 2 || b.length < 2) return { value: Math.exp(estimate), low: null, high: null }
    const parts = [a, b].map((logs) => ({
      variance: sampleVariance(logs) / logs.length,
      df: logs.length - 1,
    }))
    return toInterval(withComponents(estimate, parts, a.length + b.length - 2))
  }

  readonly compare = (race: string, metric: Metric, over: string, under: string) => {
    const layout = this.#layouts.get(`${race} ${metric}`)
    const [a = -1, b = -1] = [over, under].map((name) => layout?.names.indexOf(name))
    if (layout === undefined || a < 0 || b < 0) return null
    const has = (row: number, heat: number) => (layout.values[row]?.[heat] ?? null) !== null
    const starts = (layout.values[a] ?? []).filter((_, heat) => has(a, heat) && has(b, heat)).length
    return { ...compare(layout, a, b), starts }
  }

  value(race: string, metric: Metric, system: string): Interval | null {
    const layout = this.#layouts.get(`${race} ${metric}`)
    const row = layout?.names.indexOf(system) ?? -1
    return layout === undefined || row < 0 ? null : rowMean(layout, row)
  }
}

/** Systems that have the metric in at least one launch. */
function layoutOf(records: readonly JudgedSystem[], metric: Metric) {
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

function figuresOf(
  { cell, launches, open, void: reason }: JudgedSystem,
  layouts: StudyLayouts,
): StudyFigures {
  const counted = launches.filter((one) => one !== null)
  const figures = METRICS.flatMap((metric) => {
    const value = layouts.value(cell.race, metric, cell.system)
    return value === null ? [] : [[metric, value] as const]
  })
  const shown = reason === null ? counted : []
  const handshakes = [...new Set(shown.flatMap((one) => one.handshakes))]
  return {
    race: cell.race,
    system: cell.system,
    launches: counted.length,
    openLoop: open === null ? null : open.judged,
    figures: Object.fromEntries(figures),
    cpu: { app: meanOf(shown.map(({ cpu }) => cpu.app)), proxy: meanOf(shown.map(({ cpu }) => cpu.proxy)) },
    coreUse: meanOf(shown.map(({ coreUse }) => coreUse)),
    upstreamConnections: cell.topology !== 'direct' ? meanOf(shown.map((one) => one.otherConnections)) : null,
    workerShares: sharesOf(shown),
    ...(handshakes.length > 0 && { handshakes }),
    void: reason,
  }
}

function sharesOf(launches: readonly LaunchFigures[]): StudyFigures['workerShares'] {
  const least = meanOf(launches.map(({ workerShares }) => workerShares?.least))
  const most = meanOf(launches.map(({ workerShares }) => workerShares?.most))
  return least === null || most === null ? null : { least, most }
}

function stepOf({ what, race, from, to }: Step, layouts: StudyLayouts): StepResult {
  const [before, after] = [layouts.value(race, 'cpu', from), layouts.value(race, 'cpu', to)]
  return {
    what,
    race,
    from,
    to,
    cpu: before && after && { from: before.value, to: after.value },
    // Where the system does not tell CPU time, a busy core has a time per response.
    ratio: layouts.ratio(race, 'cpu', to, from) ?? layouts.ratio(race, 'rate', from, to),
  }
}

function measuredOf(cells: readonly StudyFigures[], openRates: StudyAnalysis['openRates']): Measured {
  const find = (race: string, system: string) =>
    cells.find((one) => one.race === race && one.system === system && one.void === null)
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
