import { formatDistance, formatMicros, formatPercent, formatRatio } from '@startgrid/cli/numbers.ts'
import { capital, listOf, plural } from '@startgrid/cli/text.ts'
import { median } from '@startgrid/stats/moments.ts'
import { countDecided, type Standing, standingsOf, typicalWidth, widthWith } from '../judge/standings.ts'
import type { Cell } from '../result/cell.ts'
import type { RaceFigures } from '../result/figures.ts'
import type { Heat } from '../result/heat.ts'
import { METRIC_NAMES, nameOf } from '../result/names.ts'
import type { Result } from '../result/result.ts'

/** What a result says, in sentences that its figures make. */

/** What else there is to say: a few sentences, the most important first. */
export function summarise(result: Result): string[] {
  return [
    ...describeProxies(result),
    ...describeControls(result),
    ...describeVoidCount(result),
    ...describeCertainty(result),
  ]
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
export function outcomeOf({ races: { rate: race } }: Standing, result: Result): string | null {
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
export function leadersOf(race: RaceFigures): { first: string[]; leaders: string[]; isOpen: boolean } {
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

/** Who may be the first only because its launches differ: `express could not be placed: one of 3 launches ran at 0.6 of the others.` */
export function describeUnplaced({ races: { rate: race }, entries }: Standing, result: Result): string[] {
  if (race === null || race.pairs.every(({ p }) => p === null)) return []
  const { first, isOpen } = leadersOf(race)
  const rivals = entries.map(({ spec }) => spec.id)
  return isOpen
    ? []
    : first
        .filter((cell) => !isPlaced(race, cell))
        .map(
          (cell) => `${shortName(cell, result)} could not be placed: ${whyUnplaced(cell, rivals, result)}.`,
        )
}

function whyUnplaced(cell: string, rivals: readonly string[], { heats }: Result): string {
  const launches = heats.flatMap((heat) => {
    const own = rateIn(heat, cell)
    const others = rivals.flatMap((id) => (id === cell ? [] : (rateIn(heat, id) ?? [])))
    return own === null || others.length === 0 ? [] : [own / median(others)]
  })
  const typical = median(launches)
  const distance = (launch: number) => Math.abs(Math.log(launch / typical))
  const [odd] = launches.toSorted((a, b) => distance(b) - distance(a))
  return odd === undefined || launches.length < 3
    ? 'its launches differ too much'
    : `one of ${launches.length} launches ran at ${formatRatio(odd / typical)} of the others`
}

/** Responses per second of a cell in a heat; null if it has none. */
function rateIn({ slices }: Heat, cell: string): number | null {
  const own = slices.filter((slice) => slice.cell === cell && slice.phase === 'measure')
  const seconds = own.reduce((sum, slice) => sum + slice.seconds, 0)
  return seconds === 0 ? null : own.reduce((sum, slice) => sum + slice.requests, 0) / seconds
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

/** One sentence about all A/A twins. */
function describeControls({ analysis }: Result): string[] {
  const races = (analysis?.races ?? []).filter(({ control }) => control !== null)
  const controls = races.flatMap(({ control }) => control ?? [])
  if (controls.length === 0) return ['There was no A/A control: no app raced under two names.']
  if (controls.every(({ p }) => p === null))
    return ['The A/A control says nothing: one launch shows no difference.']
  const suspects = races.filter(({ control }) => control?.suspect)
  if (suspects.length > 0) {
    const names = suspects.map(
      ({ race, topology, metric }) => `${race} ${topology} by ${METRIC_NAMES[metric]}`,
    )
    return [`The same app under two names differed in ${listOf(names)}: rely on no small difference there.`]
  }
  const worst = Math.max(...controls.map(({ ratio }) => Math.abs(Math.log(ratio.value))))
  return [
    `The same app under two names differed by at most ${formatDistance(Math.exp(worst))}, no more than chance explains.`,
  ]
}

/** Apps seldom differ by a larger factor: a race that shows only such differences shows none. */
const LARGE = 2

/** `6.1 %`; of a large one, the factor. */
export function formatEffect(ratio: number): string {
  return ratio < LARGE ? formatDistance(ratio) : `a factor of ${formatRatio(ratio)}`
}

/** A run that shows so little needs ratios that are certain to about ±30 %. */
const USEFUL_WIDTH = 0.3
const MOST_TIMES_LONGER = 16

/** What is decided, how certain ratios are, which differences stay hidden, and what more time would buy. */
function describeCertainty({ analysis, cells, heats }: Result): string[] {
  const width = analysis === null ? null : typicalWidth(analysis)
  if (analysis === null || width === null) return []
  const launches = Math.max(...heats.map(({ heat }) => heat))
  const races = Map.groupBy(cells, ({ role, topology }) => `${role} ${topology}`)
  const rows = Math.max(...[...races.values()].map(({ length }) => length))
  const spent = heats.reduce((sum, { seconds }) => sum + seconds, 0) / 60
  const widthOf = (times: number) => widthWith(times * launches, { width, heats: launches, rows })
  const { decided, of } = countDecided(analysis)
  const canGrow = heats.length > 0 && launches > 1
  if (canGrow && decided === 0 && 1 + width >= LARGE) {
    let times = 2
    while (widthOf(times) > USEFUL_WIDTH && times < MOST_TIMES_LONGER) times *= 2
    return [
      `This run cannot tell any two apps apart: the machine was too noisy for so short a run. \`--max-time ${Math.ceil(times * spent)}m\` would make ratios of req/s certain to about ±${formatPercent(widthOf(times))}.`,
    ]
  }
  const more = canGrow
    ? ` \`--max-time ${Math.ceil(2 * spent)}m\` would make that about ±${formatPercent(widthOf(2))}.`
    : ''
  return [
    `${decided} of ${plural(of, 'pair')} of apps ${decided === 1 ? 'was' : 'were'} told apart. Ratios of req/s are certain to about ±${formatPercent(width)}.${more}`,
    ...describeSmallest(analysis.races),
  ]
}

/** What a tie may hide. */
function describeSmallest(races: readonly RaceFigures[]): string[] {
  const known = races
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

/** The twin is a control, and no cell that anybody asked for. */
function describeVoidCount({ analysis, cells }: Result): string[] {
  const twins = new Set(cells.filter(({ twinOf }) => twinOf !== null).map(({ id }) => id))
  const { length: count } = (analysis?.cells ?? []).filter((one) => one.void !== null && !twins.has(one.cell))
  if (count === 0) return []
  return [
    `${plural(count, 'cell')} ${count === 1 ? 'is void and has' : 'are void and have'} no number that counts.`,
  ]
}

/** What was not tried: a sentence per reason. */
export function describeSkipped({ cells }: Result): string[] {
  const skipped = cells.filter((cell) => cell.skipped !== null && cell.twinOf === null)
  return [...Map.groupBy(skipped, (cell) => cell.skipped ?? '')].map(
    ([reason, group]) => `Not tried: ${listOf(group.map(({ id }) => id))} (${reason}).`,
  )
}

/** What broke: a sentence per cell and reason. */
export function describeFailures({ heats }: Pick<Result, 'heats'>): string[] {
  const all = heats.flatMap(({ heat, failures }) => failures.map((one) => ({ ...one, when: `heat ${heat}` })))
  return [...Map.groupBy(all, ({ cell, reason }) => `${cell}: ${reason}`)].map(
    ([what, group]) => `Failed in ${listOf(group.map(({ when }) => when))}: ${what}.`,
  )
}

/** The framework of a cell, as the tables name it. */
export function shortName(id: string, result: Result): string {
  const spec: Cell | undefined = result.cells.find((cell) => cell.id === id)
  return spec === undefined ? id : nameOf(spec)
}
