import { formatEnds, formatRatio, orUnknown } from '@startgrid/cli/numbers.ts'
import { type Table, withoutUnknown } from '@startgrid/cli/table.ts'
import { listOf, plural } from '@startgrid/cli/text.ts'
import { type Standing, standingsOf } from '../judge/standings.ts'
import type { LatencyFigures, ProxyCost } from '../model/figures.ts'
import { METRIC_NAMES, nameOf } from '../model/names.ts'
import type { CellSpec, RaceResult, Result } from '../model/result.ts'
import { capacityTable, latencyTable, type Measured, overloadTable } from './openloop-table.ts'
import { raceTable } from './race-table.ts'
import type { Section } from './section.ts'
import {
  describeControl,
  describeSmallestEffect,
  describeTies,
  describeVoided,
  shortName,
} from './summary.ts'
import { targetSection } from './target-section.ts'

export function sectionsOf(result: Result): Section[] {
  switch (result.kind) {
    case 'rate':
      return result.mode === 'target'
        ? targetSection(result)
        : [...raceSections(result), ...proxySection(result)]
    case 'capacity':
      return openLoopSections(
        result,
        result.analysis,
        capacityTable,
        `p99 at most ${result.settings.p99Ms} ms`,
      )
    case 'latency':
      return openLoopSections(
        result,
        result.analysis,
        latencyTable,
        'latency from the intended send time',
        withheldNotes,
      )
    case 'overload':
      return openLoopSections(result, result.analysis, overloadTable, 'twice its capacity offered')
  }
}

function raceSections(result: RaceResult): Section[] {
  return standingsOf(result).map((standing) => raceSection(standing, result))
}

function raceSection(standing: Standing, result: RaceResult): Section {
  const { role, topology, workload, connections } = standing
  const race = standing.races.rate
  const ranked = race === null ? '' : `, ranked by ${METRIC_NAMES.rate}`
  const notes = race && [
    describeTies(race, result),
    describeControl(race, result),
    describeSmallestEffect(race),
  ]
  return {
    race: { role, topology },
    title: `${role} ${topology}: ${workload}, ${connections} connections${ranked}`,
    table: raceTable(standing, race === null ? 'baseline' : shortName(race.baseline, result)),
    notes: [...voidNotes(standing, result), ...(notes ?? []).filter((note) => note !== null)],
  }
}

/** `Void by the gate errors: koa (3 of 1,200 responses failed). Look at its log.` The twin counts too. */
function voidNotes({ role, topology }: Standing, result: RaceResult): string[] {
  const own = new Set(
    result.cells.filter((cell) => cell.role === role && cell.topology === topology).map(({ id }) => id),
  )
  const figures = result.analysis?.cells.filter(({ cell }) => own.has(cell)) ?? []
  return describeVoided(figures).map(({ gate, cells, advice }) => {
    const found = cells.map(({ cell, finding }) => `${shortName(cell, result)} (${finding})`)
    return [`Void by the gate ${gate}: ${found.join(', ')}.`, ...advice].join(' ')
  })
}

/** What NGINX in front costs each app. */
function proxySection({ analysis, cells }: RaceResult): Section[] {
  const costs = analysis?.proxyCosts ?? []
  if (costs.length === 0) return []
  const byApp = [...Map.groupBy(costs, ({ app, topology }) => `${app} ${topology}`).values()]
  return [
    {
      race: null,
      title: 'What NGINX in front costs: the same launch behind NGINX over direct',
      table: withoutUnknown({
        columns: [
          { heading: 'app', align: 'left', priority: 0 },
          { heading: 'via', align: 'left', priority: 0 },
          { heading: 'req/s ×', align: 'right', priority: 0 },
          { heading: '95 %', align: 'right', priority: 0 },
          { heading: 'CPU ×', align: 'right', priority: 0 },
          { heading: '95 %', align: 'right', priority: 1 },
        ],
        rows: byApp.map((group) => ({ tone: 'plain', cells: proxyRow(group, cells) })),
      }),
      notes: [],
    },
  ]
}

function proxyRow(costs: readonly ProxyCost[], cells: readonly CellSpec[]): string[] {
  const [first] = costs
  const spec = cells.find(({ app }) => app === first?.app)
  const name = spec === undefined ? (first?.app ?? '') : `${spec.role} ${nameOf(spec)}`
  const figures = (['rate', 'cpu'] as const).flatMap((metric) => {
    const ratio = costs.find((cost) => cost.metric === metric)?.ratio ?? null
    return [orUnknown(ratio?.value, formatRatio), ratio === null ? '' : formatEnds(ratio, formatRatio)]
  })
  return [name, first?.topology ?? '', ...figures]
}

/** One section per role and topology. */
function openLoopSections<Figures extends { cell: string; voidedBecause: string | null }>(
  { cells }: Result,
  figures: readonly Figures[] | null,
  makeTable: (cells: readonly Measured<Figures>[]) => Table,
  condition: string,
  moreNotes: (cells: readonly Measured<Figures>[]) => string[] = () => [],
): Section[] {
  const measured = (figures ?? []).flatMap((one) => {
    const spec = cells.find(({ id }) => id === one.cell)
    return spec === undefined ? [] : [{ spec, figures: one }]
  })
  const groups = Map.groupBy(measured, ({ spec: { role, topology } }) => `${role} ${topology}`)
  return [...groups].map(([name, group]) => ({
    race: group[0]?.spec ?? null,
    title: `${name}: ${group[0]?.spec.workload}, ${group[0]?.spec.connections} connections, ${condition}`,
    table: makeTable(group),
    notes: [...group.flatMap(voidedNote), ...moreNotes(group)],
  }))
}

function voidedNote({ spec, figures }: Measured<{ voidedBecause: string | null }>): string[] {
  return figures.voidedBecause === null ? [] : [`${nameOf(spec)} is void: ${figures.voidedBecause}.`]
}

/** Why percentiles are missing, each reason once; levels that are void as a whole apart. */
function withheldNotes(cells: readonly Measured<LatencyFigures>[]): string[] {
  const levels = cells.flatMap(({ spec, figures }) => figures.levels.map((level) => ({ spec, level })))
  const voided = levels.flatMap(({ spec, level }) =>
    level.voidedBecause === null
      ? []
      : [`${nameOf(spec)} at ${level.level} is void: ${level.voidedBecause}.`],
  )
  const withheld = levels
    .filter(({ level }) => level.voidedBecause === null)
    .flatMap(({ spec, level }) =>
      level.percentiles.flatMap(({ percentile, withheld: reason }) =>
        reason === null ? [] : [{ reason, what: `p${percentile} of ${nameOf(spec)} at ${level.level}` }],
      ),
    )
  const reasons = [...Map.groupBy(withheld, ({ reason }) => reason)].map(([reason, group]) => {
    const names = group.map(({ what }) => what)
    return `Withheld (—), ${reason}: ${names.length > NAMED ? plural(names.length, 'percentile') : listOf(names)}.`
  })
  return [...voided, ...reasons]
}

/** More are counted: a short run withholds p99.99 everywhere. */
const NAMED = 3
