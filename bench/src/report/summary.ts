import {
  formatDistance,
  formatMicros,
  formatPercent,
  formatRatio,
  formatRatioInterval,
} from '@startgrid/cli/numbers.ts'
import { capital, listOf, plural } from '@startgrid/cli/text.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { median } from '@startgrid/stats/moments.ts'
import { isShown, SIGNIFICANT } from '../judge/analysis/race.ts'
import {
  countDecided,
  type Standing,
  standingsOf,
  tiesOf,
  typicalWidth,
  widthWith,
} from '../judge/standings.ts'
import type { Cell } from '../model/cell.ts'
import type { RaceFigures } from '../model/figures.ts'
import type { Heat } from '../model/heat.ts'
import { METRIC_NAMES, nameOf } from '../model/names.ts'
import type { RaceResult } from '../model/result.ts'

/** What a result says, in sentences that its figures make. */

/** What else there is to say: a few sentences, the most important first. */
export function summarise(result: RaceResult): string[] {
  return [
    ...standingsOf(result).flatMap((standing) => describeWinner(standing, result) ?? []),
    ...describeProxies(result),
    ...describeControls(result),
    ...describeVoidCount(result),
    ...describeCertainty(result),
  ]
}

/** Apps that certainly differ by less are as good as equal. */
const ALIKE = 1.25

/** The headline: `Bun and node lead hello; all 6 are within a factor of 1.20 in ssr`: of each role, direct where it was measured so. */
export function findingOf(result: RaceResult): string {
  const roles = Map.groupBy(standingsOf(result), ({ race }) => race)
  const found = [...roles.values()].flatMap((standings) => {
    const standing = standings.find(({ topology }) => topology === 'direct') ?? standings[0]
    const outcome = standing === undefined ? null : outcomeOf(standing, result)
    return standing === undefined || outcome === null ? [] : [{ ...outcome, role: standing.race }]
  })
  const groups = Map.groupBy(found, ({ verb, says }) => `${verb} ${says}`)
  const parts = [...groups.values()].map((group) => {
    const names = listOf(group.map(({ role }) => role))
    const { verb = 'in', says = '' } = group[0] ?? {}
    return `${says} ${verb} ${names}`
  })
  return capital(parts.join('; ') || 'nothing could be ranked')
}

/** Who leads a race, or what there is to say instead. */
function outcomeOf(standing: Standing, result: RaceResult): { verb: string; says: string } | null {
  const race = standing.races.rate
  const [best] = race?.ranks ?? []
  if (race === null || best === undefined) return null
  const says = (text: string) => ({ verb: 'in', says: text })
  if (race.ranks.length === 1) return says(`only ${shortName(best.cell, result)} was measured`)
  if (race.pairs.every(({ p }) => p === null)) return says('one launch of each app ranks nothing')
  const farthest = Math.max(
    ...race.pairs.map(({ ratio: { low, high } }) => Math.max(high ?? 0, 1 / (low ?? 0))),
  )
  if (farthest <= ALIKE)
    return says(
      `${race.ranks.length === 2 ? 'both' : `all ${race.ranks.length}`} are within a factor of ${(Math.ceil(farthest * 20) / 20).toFixed(2)}`,
    )
  const { leaders, isOpen } = leadersOf(race)
  if (isOpen) return says('no difference was shown')
  const names = leaders.map((cell) => shortName(cell, result))
  return { verb: names.length === 1 ? 'leads' : 'lead', says: listOf(names) }
}

/** Cells that may be the first, without those that could not be placed; open if that is all of them. */
export function leadersOf(race: RaceFigures): { first: string[]; leaders: string[]; isOpen: boolean } {
  const first = race.ranks.filter(({ from }) => from === 1).map(({ cell }) => cell)
  const placed = first.filter((cell) => isPlaced(race, cell))
  const leaders = placed.length > 0 ? placed : first.slice(0, 1)
  return { first, leaders, isOpen: first.length === race.ranks.length }
}

/** `hello direct: bun is first, at 1.48 (1.43–1.53) times the req/s of node.` @returns null if nothing could be ranked */
function describeWinner(standing: Standing, result: RaceResult): string | null {
  const race = standing.races.rate
  const [best] = race?.ranks ?? []
  if (race === null || best === undefined) return null
  const title = `${standing.race} ${standing.topology}`
  if (race.ranks.length === 1) return `${title}: only ${shortName(best.cell, result)} was measured.`
  if (race.pairs.every(({ p }) => p === null))
    return `${title}: one launch of each app ranks nothing. Add heats.`
  const { first, leaders, isOpen } = leadersOf(race)
  if (isOpen) return `${title}: no difference was shown between the apps.`
  const doubts = first
    .filter((cell) => !isPlaced(race, cell))
    .map((cell) => ` ${describeUnplaced(cell, standing, result)}`)
    .join('')
  const names = leaders.map((cell) => shortName(cell, result))
  if (names.length > 1) return `${title}: ${listOf(names)} tie for the first place.${doubts}`
  const [leader = best.cell] = leaders
  return `${title}: ${shortName(leader, result)} is first, ${comparedWithBaseline(race, leader, result)}.${doubts}`
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

/** `express could not be placed: one of 3 launches ran at 0.6 of the others.` */
function describeUnplaced(cell: string, { race: role, topology }: Standing, result: RaceResult): string {
  const { cells, heats } = result
  const rivals = cells.filter((one) => one.race === role && one.topology === topology && one.id !== cell)
  const launches = heats.flatMap((heat) => {
    const own = rateIn(heat, cell)
    const others = rivals.flatMap(({ id }) => rateIn(heat, id) ?? [])
    return own === null || others.length === 0 ? [] : [own / median(others)]
  })
  const typical = median(launches)
  const odd = launches.toSorted(
    (a, b) => Math.abs(Math.log(b / typical)) - Math.abs(Math.log(a / typical)),
  )[0]
  const why =
    odd === undefined || launches.length < 3
      ? 'its launches differ too much'
      : `one of ${launches.length} launches ran at ${formatRatio(odd / typical)} of the others`
  return `${shortName(cell, result)} could not be placed: ${why}.`
}

/** Responses per second of a cell in a heat; null if it has none. */
function rateIn({ slices }: Heat, cell: string): number | null {
  const own = slices.filter((slice) => slice.cell === cell && slice.phase === 'measure')
  const seconds = own.reduce((sum, slice) => sum + slice.seconds, 0)
  return seconds === 0 ? null : own.reduce((sum, slice) => sum + slice.requests, 0) / seconds
}

function comparedWithBaseline(race: RaceFigures, cell: string, result: RaceResult): string {
  const other = cell === race.baseline ? race.ranks[1]?.cell : race.baseline
  const ratio = ratioOf(race, cell, other)
  if (other === undefined || ratio === null) return `by ${METRIC_NAMES[race.metric]}`
  return `at ${formatRatioInterval(ratio)} times the ${METRIC_NAMES[race.metric]} of ${shortName(other, result)}`
}

/** One cell over another, from the pairs, which hold each pair once. */
export function ratioOf(race: RaceFigures, cell: string, other: string | undefined): Interval | null {
  const pair = race.pairs.find(({ a, b }) => a === cell && b === other)
  if (pair) return pair.ratio
  const reverse = race.pairs.find(({ a, b }) => a === other && b === cell)
  if (reverse === undefined) return null
  const { value, low, high } = reverse.ratio
  return { value: 1 / value, low: high === null ? null : 1 / high, high: low === null ? null : 1 / low }
}

/** Of a race with one launch. */
const ONE_LAUNCH = 'One launch of each app shows no difference: add heats.'

/** Which cells of a race could not be told apart: `Ties: node and fastify; fastify and hono.` @returns null if all could */
export function describeTies(race: RaceFigures, result: RaceResult): string | null {
  if (race.pairs.length === 0) return null
  if (race.pairs.every(({ p }) => p === null)) return ONE_LAUNCH
  const ties = tiesOf(race).map((cells) => listOf(cells.map((cell) => shortName(cell, result))))
  if (ties.length === 0) return null
  const found = `${ties.length === 1 ? 'Tie' : 'Ties'} (no difference shown between them): ${ties.join('; ')}.`
  const alone = race.pairs.filter((pair) => (pair.p ?? 1) < SIGNIFICANT && !isShown(pair))
  if (alone.length === 0) return found
  const names = alone.map(({ a, b }) => `${shortName(a, result)} and ${shortName(b, result)}`)
  const pairs = names.length > 3 ? plural(names.length, 'pair') : names.join('; ')
  return `${found} Looked at alone, ${pairs} would differ (p < 0.05), but not among ${plural(race.pairs.length, 'pair')}.`
}

/** `Behind nginx, hello keeps 42 % of its direct req/s and ssr 66 % (medians): NGINX takes 23.1 µs of the same core for each request.` */
function describeProxies({ analysis, cells }: RaceResult): string[] {
  const costs = analysis?.proxyCosts.filter(({ metric }) => metric === 'rate') ?? []
  return [...Map.groupBy(costs, ({ topology }) => topology)].map(([topology, group]) => {
    const roles = [...Map.groupBy(group, ({ race }) => race)].map(
      ([role, own], index) =>
        `${role} ${index === 0 ? 'keeps ' : ''}${formatPercent(median(own.map(({ ratio }) => ratio.value)))}`,
    )
    const apps = new Set(group.map(({ app }) => app))
    const proxies = cells.flatMap((cell) => {
      const figures = analysis?.cells.find((one) => one.cell === cell.id)
      return cell.topology === topology && apps.has(cell.app) ? (figures?.cpuParts.proxy ?? []) : []
    })
    const price =
      proxies.length === 0
        ? ''
        : `: NGINX takes ${formatMicros(median(proxies))} µs of the same core per request`
    return `Behind ${topology}, ${listOf(roles)} of the direct req/s${group.length > roles.length ? ' (medians)' : ''}${price}.`
  })
}

/** One sentence about all A/A twins. */
function describeControls({ analysis }: RaceResult): string[] {
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

/** `Smallest difference this race could have shown at 80 % power: 6.1 % in one pair, 10 % in all pairs together.` */
export function describeSmallestEffect({ smallestEffect, pairs }: RaceFigures): string | null {
  if (smallestEffect === null) return null
  const { single, adjusted } = smallestEffect
  if (single >= LARGE && !pairs.some(isShown))
    return 'This race cannot tell any two of its apps apart: the machine was too noisy for so short a run.'
  return (
    `Smallest difference this race could have shown (80 % power): ${formatEffect(single)} in one pair, ` +
    `${formatEffect(adjusted)} with all pairs tested.`
  )
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

/** What is decided, how certain ratios are, and what more time would buy. */
function describeCertainty({ analysis, cells, heats }: RaceResult): string[] {
  const width = analysis === null ? null : typicalWidth(analysis)
  if (analysis === null || width === null) return []
  const { decided, of } = countDecided(analysis)
  const ties = of - decided
  const found =
    ties === 0
      ? `All ${of} pairs of apps were told apart.`
      : decided === 0
        ? `None of ${plural(of, 'pair')} of apps was told apart.`
        : `${decided} of ${plural(of, 'pair')} of apps ${decided === 1 ? 'was' : 'were'} told apart; ${ties} ${ties === 1 ? 'ties' : 'tie'}.`
  const launches = Math.max(...heats.map(({ heat }) => heat))
  const races = Map.groupBy(cells, ({ role, topology }) => `${role} ${topology}`)
  const rows = Math.max(...[...races.values()].map(({ length }) => length))
  const certain = `${found} Ratios of req/s are certain to about ±${formatPercent(width)}`
  if (heats.length === 0 || launches < 2) return [`${certain}.`]
  const spent = heats.reduce((sum, { seconds }) => sum + seconds, 0) / 60
  const widthOf = (times: number) => widthWith(times * launches, { width, heats: launches, rows })
  if (decided === 0 && 1 + width >= LARGE) {
    let times = 2
    while (widthOf(times) > USEFUL_WIDTH && times < MOST_TIMES_LONGER) times *= 2
    return [
      `This run cannot tell any two apps apart: the machine was too noisy for so short a run. \`--max-time ${Math.ceil(times * spent)}m\` would make ratios of req/s certain to about ±${formatPercent(widthOf(times))}.`,
    ]
  }
  return [
    `${certain}. \`--max-time ${Math.ceil(2 * spent)}m\` would make that about ±${formatPercent(widthOf(2))}.`,
  ]
}

/** The twin is a control, and no cell that anybody asked for. */
function describeVoidCount({ analysis, cells }: RaceResult): string[] {
  const twins = new Set(cells.filter(({ twinOf }) => twinOf !== null).map(({ id }) => id))
  const { length: count } = (analysis?.cells ?? []).filter((one) => one.void !== null && !twins.has(one.cell))
  if (count === 0) return []
  return [
    `${plural(count, 'cell')} ${count === 1 ? 'is void and has' : 'are void and have'} no number that counts.`,
  ]
}

/** What was not tried: a sentence per reason. */
export function describeSkipped({ cells }: RaceResult): string[] {
  const skipped = cells.filter((cell) => cell.skipped !== null && cell.twinOf === null)
  return [...Map.groupBy(skipped, (cell) => cell.skipped ?? '')].map(
    ([reason, group]) => `Not tried: ${listOf(group.map(({ id }) => id))} (${reason}).`,
  )
}

/** What broke: a sentence per cell and reason. */
export function describeFailures({ heats }: Pick<RaceResult, 'heats'>): string[] {
  const all = heats.flatMap(({ heat, failures }) => failures.map((one) => ({ ...one, when: `heat ${heat}` })))
  return [...Map.groupBy(all, ({ cell, reason }) => `${cell}: ${reason}`)].map(
    ([what, group]) => `Failed in ${listOf(group.map(({ when }) => when))}: ${what}.`,
  )
}

/** The framework of a cell, as the tables name it. */
export function shortName(id: string, result: RaceResult): string {
  const spec: Cell | undefined = result.cells.find((cell) => cell.id === id)
  return spec === undefined ? id : nameOf(spec)
}
