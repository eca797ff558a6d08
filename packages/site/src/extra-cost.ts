import type { Chart } from '@startgrid/bench/src/report/chart.ts'
import type { CostsResult } from '@startgrid/bench/src/result/figures.ts'
import type { Result } from '@startgrid/bench/src/result/result.ts'
import { HEADLINE } from '@startgrid/bench/studies/how-much-it-matters/study.ts'
import { findFramework } from '@startgrid/grid/apps.ts'
import { CATALOGUE } from '@startgrid/grid/frameworks.ts'
import { nameMachine } from '@startgrid/machine/machine.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { type Machine, readMachines, readStudies } from './stored.ts'

/**
 * The first picture: what a framework on Node costs beyond bare node:http, for a small route and for a page. Of a machine on which the study
 * how-much-it-matters ran it is that; of another one, the race.
 */

const ROLES = [
  { role: 'hello', race: 'hello', what: 'hello world' },
  { role: 'ssr', race: 'page', what: 'React page' },
] as const

const STUDY = 'how-much-it-matters'
/** Items of the page that the race measures too. */
const ITEMS = 50

/** CPU time of a request beyond that of another server, in microseconds. */
interface ExtraCost extends Interval {
  framework: string
}

interface Extra {
  /** Machine and day. */
  title: string
  panels: {
    what: string
    costs: ExtraCost[] /** Of the pair that was chosen beforehand. */
    between?: Interval
  }[]
}

/** One for each machine, by its name. */
export function readExtraCosts(): Extra[] {
  const studies = new Map(
    readStudies()
      .filter(({ experiment }) => experiment.name === STUDY)
      .map((record) => [nameMachine(record.machine), record]),
  )
  const races = new Map(readMachines().map((machine) => [nameMachine(machine.result.machine), machine]))
  return [...new Set([...studies.keys(), ...races.keys()])].toSorted().flatMap((name) => {
    const study = studies.get(name)
    const race = races.get(name)
    return study !== undefined ? ofStudy(study) : race !== undefined ? ofRace(race) : []
  })
}

const [OVER, UNDER] = HEADLINE.map((name) => findFramework(name).title)

function ofStudy(record: Result): Extra {
  const panels = ROLES.flatMap(({ race, what }) => {
    const own = record.analysis?.costs?.find((one) => one.race === race && headlineOf(one) !== undefined)
    if (own === undefined) return []
    const costs = own.pairs.flatMap((pair) => {
      const cost = microseconds(pair)
      return pair === headlineOf(own) || cost === undefined ? [] : [{ framework: pair.over, ...cost }]
    })
    const between = microseconds(headlineOf(own))
    return [{ what, costs, ...(between !== undefined && { between }) }]
  })
  return { title: `${nameMachine(record.machine)}, ${record.startedAt.slice(0, 10)}`, panels }
}

type CostPair = CostsResult['pairs'][number]

function headlineOf({ pairs }: CostsResult): CostPair | undefined {
  return pairs.find(({ over, under }) => over === OVER && under === UNDER)
}

function microseconds(pair: CostPair | undefined): Interval | undefined {
  const cost = (pair?.points.find(({ amount }) => amount === ITEMS) ?? pair?.points[0])?.cost
  if (cost === undefined) return undefined
  const scaled = (seconds: number | null) => (seconds === null ? null : seconds * 1e6)
  return { value: cost.value * 1e6, low: scaled(cost.low), high: scaled(cost.high) }
}

function ofRace(machine: Machine): Extra {
  return {
    title: machine.title,
    panels: ROLES.map(({ role, what }) => ({ what, costs: costsOfRace(machine, role) })),
  }
}

/** Where a result has no ratios of CPU time, those of the rates stand for them: the servers fill their core. */
function costsOfRace({ standings }: Machine, role: string): ExtraCost[] {
  const standing = standings.find(({ race, topology }) => race === role && topology === 'direct')
  const { entries = [], races } = standing ?? {}
  const metric = races?.cpu == null ? 'rate' : 'cpu'
  const baseline = entries.find(({ spec }) => spec.id === races?.[metric]?.baseline)
  const unit = (baseline?.figures.figures.cpu?.value ?? Number.NaN) * 1e6
  return CATALOGUE.filter(({ runtime }) => runtime === 'node').flatMap(({ name, title }) => {
    const entry = entries.find(({ spec }) => spec.app === `${name}/${role}`)
    const ratio = entry?.places[metric]?.ratio
    if (ratio == null || entry === baseline) return []
    const extra = (one: number | null) =>
      one === null ? null : ((metric === 'rate' ? 1 / one : one) - 1) * unit
    const ends = [extra(ratio.low), extra(ratio.high)].toSorted((a, b) => (a ?? 0) - (b ?? 0))
    return [{ framework: title, value: extra(ratio.value) ?? 0, low: ends[0] ?? null, high: ends[1] ?? null }]
  })
}

const CAPTION =
  'CPU time that a framework adds to a request, over bare node:http, in µs. Server on one core, no proxy, 95 % intervals.'

/** One machine, on an axis of its own. */
export function extraCostChart({ title, panels }: Extra): Chart {
  return {
    title,
    caption: CAPTION,
    panels: panels.map(({ what, costs }) => ({
      title: what,
      dots: costs
        .toSorted((a, b) => a.framework.localeCompare(b.framework))
        .map(({ framework, ...cost }) => ({ ...cost, name: framework, leads: false })),
    })),
    columns: 2,
    axis: { label: 'extra µs per request', scale: 'linear', format: formatMicroseconds },
  }
}

function formatMicroseconds(value: number): string {
  return Math.abs(value) < 10 ? value.toFixed(1) : String(Math.round(value))
}

/** The pictures in words: a sentence for each machine that has one. */
export function describeExtraCosts(machines: readonly Extra[]): string[] {
  return machines.flatMap((machine) => describeExtraCost(machine) ?? [])
}

/**
 * `AMD EPYC, 2 cores, 2026-11-24: choosing Koa over Fastify costs 7.4 µs (5.7 to 9.0) for a hello world and …. 47 µs are 1 % of a React page
 * that needs 4.7 ms of CPU time.` Always the same two: the best and the worst would be picked by chance.
 * @returns undefined for a race, which stores no interval of their difference
 */
function describeExtraCost({ title, panels }: Extra): string | undefined {
  const costs = panels.flatMap(({ what, between }) => (between === undefined ? [] : [{ what, between }]))
  const last = costs.at(-1)
  if (last === undefined) return undefined
  const list = costs.map(({ what, between }) => `${describe(between)} for a ${what}`).join(' and ')
  const needs = (last.between.value / 10).toPrecision(2)
  return `${title}: choosing ${OVER} over ${UNDER} costs ${list} (95 % intervals). ${formatMicroseconds(last.between.value)} µs are 1 % of a ${last.what} that needs ${needs} ms of CPU time.`
}

function describe({ value, low, high }: Interval): string {
  const ends =
    low === null || high === null ? '' : ` (${formatMicroseconds(low)} to ${formatMicroseconds(high)})`
  return `${formatMicroseconds(value)} µs${ends}`
}
