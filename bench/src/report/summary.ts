import { formatDistance, formatMicros, formatPercent, formatRatio } from '@startgrid/cli/numbers.ts'
import { capital, listOf } from '@startgrid/cli/text.ts'
import { median } from '@startgrid/stats/moments.ts'
import { PROFILES } from '../experiment/profiles.ts'
import { type Standing, standingsOf } from '../judge/ranks.ts'
import type { RaceFigures } from '../result/figures.ts'
import { METRICS } from '../result/metrics.ts'
import { type Cell, nameOf, type Result } from '../result/result.ts'

/** What a result says, in sentences that its figures make. */

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
export function outcomeOf({ ranked: race }: Standing, result: Result): string | null {
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

/** Who may be the first only because its launches differ. */
export function describeUnplaced({ ranked: race }: Standing, result: Result): string[] {
  if (race === null || race.pairs.every(({ p }) => p === null)) return []
  const { first, isOpen } = leadersOf(race)
  return isOpen
    ? []
    : first
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

/** One sentence about all A/A twins. */
function describeControls({ analysis }: Result): string[] {
  const races = (analysis?.races ?? []).filter(({ control }) => control !== null)
  const controls = races.flatMap(({ control }) => control ?? [])
  if (controls.every(({ p }) => p === null)) return []
  const suspects = races.filter(({ control }) => control?.suspect)
  if (suspects.length > 0) {
    const names = suspects.map(
      ({ race, topology, metric, control }) =>
        `${race} ${topology} (${METRICS[metric].heading}, by ${formatDistance(control?.ratio.value ?? 1)})`,
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

/** What a tie may hide. */
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

/** What was not tried: a sentence per reason. */
export function describeSkipped({ cells }: Result): string[] {
  const skipped = cells.filter((cell) => cell.skipped !== null && cell.twinOf === null)
  return [...Map.groupBy(skipped, (cell) => cell.skipped ?? '')].map(
    ([reason, group]) => `Not tried: ${listOf(group.map(({ id }) => id))} (${reason}).`,
  )
}

/** The framework of a cell, as the tables name it. */
export function shortName(id: string, result: Result): string {
  const spec: Cell | undefined = result.cells.find((cell) => cell.id === id)
  return spec === undefined ? id : nameOf(spec)
}
