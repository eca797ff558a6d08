import {
  formatDistance,
  formatEnds,
  formatMicros,
  formatPercent,
  formatRatio,
  orUnknown,
} from '@startgrid/cli/numbers.ts'
import { left, right, tableOf } from '@startgrid/cli/table.ts'
import { capital, listOf, plural } from '@startgrid/cli/text.ts'
import { median } from '@startgrid/stats/moments.ts'
import { PROFILES } from '../experiment/profiles.ts'
import { SIGNIFICANT } from '../judge/comparisons.ts'
import { type Standing, standingsOf } from '../judge/ranks.ts'
import type { Control, RaceFigures } from '../result/figures.ts'
import { METRICS } from '../result/metrics.ts'
import { nameOf, type Result } from '../result/result.ts'
import { type Chart, type Panel, ratioChart } from './chart.ts'
import type { Findings, Section } from './document.ts'
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
  const baselines = races.map(({ ranked }) => shortName(ranked?.baseline ?? '', result))
  const names = [...new Set(baselines)].join(' or ')
  return ratioChart({
    title: `${METRICS.rate.heading} over ${names}`,
    caption:
      'Best first, with 95 % intervals; who leads in colour. Ranks say which apps were told apart. The scale is logarithmic.',
    panels: races.map(panelOf),
    columns: new Set(races.map(({ topology }) => topology)).size,
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
  return {
    title: `${role} ${topology}: ${outcome === null ? '' : `${outcome}; `}${workload}, ${connections} connections`,
    table: systemsTable(entries, shortName(ranked?.baseline ?? '', result)),
    notes: [
      ...describeUnplaced(standing, result),
      ...systemNotes([...entries, ...entriesOf(result, twins)], role, result),
    ],
  }
}

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

/** Races that have a twin, with what it showed. */
function controlsOf({ analysis }: Result) {
  return (analysis?.races ?? []).flatMap(({ control, ...race }) =>
    control === null ? [] : [{ ...race, ...control, race: `${race.race} ${race.topology}` }],
  )
}

/** What a race found where there is nothing to find, and what it could have found. */
function controlSection(result: Result): Section[] {
  const controls = controlsOf(result)
  if (controls.length === 0) return []
  const table = tableOf<(typeof controls)[number]>(
    controls,
    [
      left('race', 0, ({ race }) => race),
      left('metric', 0, ({ metric }) => METRICS[metric].heading),
      right('× original', 0, ({ ratio }) => ratio.value.toFixed(3)),
      right('95 %', 0, ({ ratio }) => formatEnds(ratio, (value) => value.toFixed(3))),
      right('p', 0, ({ p }) => orUnknown(p, (one) => (one < 0.001 ? '< 0.001' : one.toFixed(3)))),
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

/** What else there is to say: a few sentences, the most important first. */
export function summarise(result: Result): string[] {
  return [...describeProxies(result), ...describeControls(result), ...describeSmallest(result)]
}

/** Apps that certainly differ by less are as good as equal. */
const ALIKE = 1.25

/** The headline: `Bun and node lead hello; all 6 are within a factor of 1.20 in ssr`: of each role, direct where it was measured so. */
export function findingOf(result: Result): string {
  const roles = Map.groupBy(standingsOf(result), ({ race }) => race)
  const found = [...roles].flatMap(([role, standings]) => {
    const standing = standings.find(({ topology }) => topology === 'direct') ?? standings[0]
    const outcome = standing === undefined ? null : outcomeOf(standing, result)
    return outcome === null ? [] : [{ outcome, role }]
  })
  const parts = [...Map.groupBy(found, ({ outcome }) => outcome)].map(
    ([outcome, group]) =>
      `${outcome}${/ leads?$/.test(outcome) ? '' : ' in'} ${listOf(group.map(({ role }) => role))}`,
  )
  return capital(parts.join('; ') || 'nothing could be ranked')
}

/** Who leads a race, or what there is to say instead: `bun leads`; null if nothing was ranked. */
function outcomeOf({ ranked: race }: Standing, result: Result): string | null {
  const [best] = race?.ranks ?? []
  if (race === null || best === undefined) return null
  if (race.ranks.length === 1) return `only ${shortName(best.cell, result)} was measured`
  if (race.pairs.every(({ p }) => p === null)) return 'one launch of each app ranks nothing'
  const farthest = Math.max(
    ...race.pairs.map(({ ratio: { low, high } }) => Math.max(high ?? 0, 1 / (low ?? 0))),
  )
  if (farthest <= ALIKE)
    return `${race.ranks.length === 2 ? 'both' : `all ${race.ranks.length}`} are within a factor of ${(Math.ceil(farthest * 20) / 20).toFixed(2)}`
  const { leaders, isOpen } = leadersOf(race)
  if (isOpen) return 'no difference was shown'
  return `${listOf(leaders.map((cell) => shortName(cell, result)))} ${leaders.length === 1 ? 'leads' : 'lead'}`
}

/** Cells that may be the first, without those that could not be placed; open if that is all of them. */
function leadersOf(race: RaceFigures): { first: string[]; leaders: string[]; isOpen: boolean } {
  const first = race.ranks.filter(({ from }) => from === 1).map(({ cell }) => cell)
  const placed = first.filter((cell) => isPlaced(race, cell))
  const leaders = placed.length > 0 ? placed : first.slice(0, 1)
  return { first, leaders, isOpen: first.length === race.ranks.length }
}

/**
 * Whether most of its ratios are as certain as the smallest difference that the race could show, and no faster app was told from the first:
 * then its own ties say only how wide its interval is.
 */
function isPlaced({ pairs, ranks, smallestEffect }: RaceFigures, cell: string): boolean {
  const behind = ranks.findIndex(({ from }) => from > 1)
  if (behind >= 0 && behind < ranks.findIndex((one) => one.cell === cell)) return false
  const widths = pairs.flatMap(({ a, b, ratio: { low, high } }) =>
    (a === cell || b === cell) && low !== null && high !== null ? [Math.log(high / low) / 2] : [],
  )
  return smallestEffect === null || widths.length < 2 || median(widths) <= Math.log(smallestEffect.adjusted)
}

/** Who may be the first only because its launches differ. */
function describeUnplaced({ ranked: race }: Standing, result: Result): string[] {
  if (race === null || race.pairs.every(({ p }) => p === null)) return []
  const { first, isOpen } = leadersOf(race)
  if (isOpen) return []
  return first
    .filter((cell) => !isPlaced(race, cell))
    .map((cell) => `${shortName(cell, result)} could not be placed: its launches differ too much.`)
}

/** `Behind nginx, hello keeps 42 % of its direct req/s and ssr 66 % (medians): NGINX takes 23.1 µs of the same core for each request.` */
function describeProxies({ analysis, cells }: Result): string[] {
  const costs = analysis?.proxyCosts.filter(({ metric }) => metric === 'rate') ?? []
  return [...Map.groupBy(costs, ({ topology }) => topology)].map(([topology, group]) => {
    const roles = [...Map.groupBy(group, ({ race }) => race)].map(
      ([role, own], index) =>
        `${role} ${index === 0 ? 'keeps ' : ''}${formatPercent(median(own.map(({ ratio }) => ratio.value)))}`,
    )
    const apps = new Set(group.map(({ app }) => app))
    const proxies = cells.flatMap((cell) => {
      const figures = analysis?.cells.find((one) => one.cell === cell.id)
      return cell.topology === topology && apps.has(cell.app) ? (figures?.cpu.proxy ?? []) : []
    })
    const price =
      proxies.length === 0
        ? ''
        : `: NGINX takes ${formatMicros(median(proxies))} µs of the same core per request`
    return `Behind ${topology}, ${listOf(roles)} of the direct req/s${group.length > roles.length ? ' (medians)' : ''}${price}.`
  })
}

function describeControls(result: Result): string[] {
  const controls = controlsOf(result)
  if (controls.every(({ p }) => p === null)) return []
  const suspects = controls.flatMap(({ race, metric, ratio, suspect }) =>
    suspect ? `${race} (${METRICS[metric].heading}, by ${formatDistance(ratio.value)})` : [],
  )
  if (suspects.length > 0)
    return [
      `The same app under two names differed in ${listOf(suspects)}: rely on no small difference there.`,
    ]
  const worst = Math.max(...controls.map(({ ratio }) => Math.abs(Math.log(ratio.value))))
  return [
    `The same app under two names differed by at most ${formatDistance(Math.exp(worst))}, no more than chance explains.`,
  ]
}

/** Apps seldom differ by a larger factor: a race that shows only such differences shows none. */
const LARGE = 2

/** `6.1 %`; of a large one, the factor. */
function formatEffect(ratio: number): string {
  return ratio < LARGE ? formatDistance(ratio) : `a factor of ${formatRatio(ratio)}`
}

function describeSmallest({ analysis }: Result): string[] {
  const known = (analysis?.races ?? [])
    .flatMap(({ race, topology, metric, smallestEffect }) =>
      metric === 'rate' && smallestEffect !== null
        ? [{ effect: smallestEffect.adjusted, name: `${race} ${topology}` }]
        : [],
    )
    .toSorted((a, b) => a.effect - b.effect)
  const [least, most = least] = [known[0], known.at(-1)]
  if (least === undefined || most === undefined) return []
  const told = ({ effect, name }: typeof least) => `${formatEffect(effect)} (${name})`
  const range = least === most ? told(least) : `${told(least)} to ${told(most)}`
  return [`With all pairs tested, a difference of ${range} would be found in 4 of 5 runs.`]
}

/** What the effort can and cannot show: sentences. */
export function describeReach({ settings: { profile } }: Result): string[] {
  return profile === 'default' || profile === 'quick' ? [PROFILES[profile].shows] : []
}

function describeSkipped({ cells }: Result): string[] {
  const skipped = cells.filter((cell) => cell.skipped !== null && cell.twinOf === null)
  return [...Map.groupBy(skipped, (cell) => cell.skipped ?? '')].map(
    ([reason, group]) => `Not tried: ${listOf(group.map(({ id }) => id))} (${reason}).`,
  )
}

function shortName(id: string, result: Result): string {
  const spec = result.cells.find((cell) => cell.id === id)
  return spec === undefined ? id : nameOf(spec)
}
