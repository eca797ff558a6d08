import { formatEnds, formatRatio, orUnknown } from '@startgrid/cli/numbers.ts'
import { left, right, tableOf } from '@startgrid/cli/table.ts'
import { plural } from '@startgrid/cli/text.ts'
import { SIGNIFICANT } from '../judge/comparisons.ts'
import { type Standing, standingsOf } from '../judge/ranks.ts'
import type { Control } from '../result/figures.ts'
import { METRICS } from '../result/metrics.ts'
import { nameOf, type Result } from '../result/result.ts'
import { type Chart, type Panel, ratioChart } from './chart.ts'
import type { Findings, Section } from './document.ts'
import {
  describeReach,
  describeSkipped,
  describeUnplaced,
  findingOf,
  formatEffect,
  leadersOf,
  outcomeOf,
  shortName,
  summarise,
} from './summary.ts'
import { entriesOf, systemNotes, systemsTable } from './systems.ts'

/** What a result of the grid says. */
export function findingsOfGrid(result: Result): Findings {
  const { profile, heats, slices, sliceMs } = result.settings
  const missing = describeSkipped(result)
  return {
    finding: findingOf(result),
    subject: `Race of apps, ${profile} profile: ${plural(heats, 'heat')} of each role, each of ${slices === 1 ? '1 pass' : `${slices} passes`} with slices of ${sliceMs} ms`,
    chart: raceChart(result),
    summary: summarise(result),
    sections: [
      ...standingsOf(result).map((standing) => standingSection(standing, result)),
      ...proxySection(result),
      ...controlSection(result),
      ...(missing.length === 0 ? [] : [{ title: 'What has no figures', notes: missing }]),
      { title: 'How to read it', notes: legendOf(result), isFolded: true },
    ],
    conditions: [],
  }
}

/** Every race as one picture, best first: topologies as columns, roles as rows. */
function raceChart(result: Result): Chart | undefined {
  const races = standingsOf(result).filter(({ entries }) => entries.some(({ place }) => place?.ratio))
  const order = (of: (race: Standing) => string) => [...new Set(races.map(of))]
  const roles = order(({ race }) => race)
  const topologies = order(({ topology }) => topology)
  const baselines = order(({ ranked }) => shortName(ranked?.baseline ?? '', result))
  const panels = roles.flatMap((role) =>
    topologies.flatMap((topology) => {
      const standing = races.find((one) => one.race === role && one.topology === topology)
      return standing === undefined ? [] : panelOf(standing)
    }),
  )
  const names = baselines.join(' or ')
  return ratioChart({
    title: `${METRICS.rate.heading} over ${names}`,
    caption:
      'Best first, with 95 % intervals; who leads in colour. Ranks say which apps were told apart. The scale is logarithmic.',
    panels,
    columns: topologies.length,
    label: `× ${names}`,
  })
}

function panelOf({ race: role, topology, entries, ranked }: Standing): Panel {
  const leaders = ranked === null ? [] : leadersOf(ranked).leaders
  const dots = entries.flatMap(({ spec, place }) => {
    const ratio = place?.ratio ?? null
    return ratio === null ? [] : [{ ...ratio, name: nameOf(spec), leads: leaders.includes(spec.id) }]
  })
  return { title: `${role} ${topology}`, dots }
}

/** The twin has a note, and no row. */
function standingSection(standing: Standing, result: Result): Section {
  const { race: role, topology, workload, connections, ranked, entries } = standing
  const outcome = outcomeOf(standing, result)
  const twins = result.cells.filter(
    (cell) => cell.twinOf !== null && cell.race === role && cell.topology === topology,
  )
  const rate = result.analysis?.openRates.find((one) => one.race === role)?.rate
  return {
    title: `${role} ${topology}: ${outcome === null ? '' : `${outcome}; `}${workload}, ${connections} connections`,
    table: systemsTable(entries, shortName(ranked?.baseline ?? '', result)),
    notes: [
      ...describeUnplaced(standing, result),
      ...systemNotes([...entries, ...entriesOf(result, twins)], rate),
    ],
  }
}

/** What NGINX in front costs each app. */
function proxySection({ analysis }: Result): Section[] {
  const costs = (analysis?.proxyCosts ?? []).filter(({ metric }) => metric === 'rate')
  if (costs.length === 0) return []
  const table = tableOf(costs, [
    left('app', 0, ({ app }) => app),
    left('via', 0, ({ topology }) => topology),
    right('req/s ×', 0, ({ ratio }) => formatRatio(ratio.value)),
    right('95 %', 0, ({ ratio }) => formatEnds(ratio, formatRatio)),
  ])
  return [{ title: 'What NGINX costs each app: behind it over direct', table, notes: [], isFolded: true }]
}

/** A probability: `0.021`, `< 0.001`. */
function formatP(p: number): string {
  return p < 0.001 ? '< 0.001' : p.toFixed(3)
}

/** What a race found where there is nothing to find, and what it could have found. */
function controlSection(result: Result): Section[] {
  const races = (result.analysis?.races ?? []).flatMap(({ control, ...race }) =>
    control === null ? [] : [{ ...race, ...control, race: `${race.race} ${race.topology}` }],
  )
  if (races.length === 0) return []
  const table = tableOf<(typeof races)[number]>(
    races,
    [
      left('race', 0, ({ race }) => race),
      left('metric', 0, ({ metric }) => METRICS[metric].heading),
      right('× original', 0, ({ ratio }) => ratio.value.toFixed(3)),
      right('95 %', 0, ({ ratio }) => formatEnds(ratio, (value) => value.toFixed(3))),
      right('p', 0, ({ p }) => orUnknown(p, formatP)),
      left('verdict', 0, verdictOf),
      right('smallest effect', 0, ({ smallestEffect }) => orUnknown(smallestEffect?.single, formatEffect)),
      right('with all pairs', 0, ({ smallestEffect }) => orUnknown(smallestEffect?.adjusted, formatEffect)),
    ],
    ({ suspect }) => (suspect ? 'void' : 'plain'),
  )
  return [{ title: 'A/A control: the same app under two names', table, notes: [], isFolded: true }]
}

function verdictOf({ p, suspect }: Control): string {
  if (suspect) return 'suspect: a difference where none exists'
  if (p === null) return 'one launch says nothing'
  return p < SIGNIFICANT ? 'barely excludes 1, as about 1 in 20 does' : 'no difference, as it should be'
}

/** What the headings mean, and how far the figures reach. */
function legendOf(result: Result): string[] {
  return [
    ...describeReach(result),
    '×: ratio to the named app, within heats. 95 %: confidence interval over launches, which misses 1 in 20 times. rank: a range if apps could ' +
      'not be told apart; it compares all pairs, so overlapping intervals prove no tie. CPU µs: of server and proxy, per request.',
    // What differs from an app in production.
    'Apps log no requests and shed no load, unlike in production. The rate of a closed loop says how much work an app can do, not how fast it responds: ' +
      'that is `pnpm bench --latency`.',
    'A number is void if a response was wrong, a request failed, or the server was not the limit.',
    'Rates and ratios are those of this machine, and differ on another one.',
  ]
}
