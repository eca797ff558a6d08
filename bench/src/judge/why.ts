import { holm, type Interval, meanInterval, pValue } from '@startgrid/stats/estimate.ts'
import { mean, sampleVariance } from '@startgrid/stats/moments.ts'
import { tQuantile } from '@startgrid/stats/student.ts'
import { fitPrior, squeeze } from '@startgrid/stats/variances.ts'
import type { CellFigures, Finding } from '../result/figures.ts'
import { type Part, type ProfiledStart, type Tree, unpackTree, type Why } from '../result/profile.ts'

/** Which functions account for a difference: own time per request, in pairs of starts that were profiled. */

/** Seconds per request. Functions below the first are not looked at; nobody would act on differences below the others. */
const LEAST = 1e-7
const FLOOR = 3e-7
const FLOOR_PART = 0.005
/** Bytes per request. */
const LEAST_BYTES = 16
/** One of several is named alone if it has this part of their difference. */
const DOMINANT = 0.6
const LEAST_PAIRS = 4
const SHOWN = 8
const LEVEL = 0.05
/** Of a prior: with more, the variance of a function would say nothing. */
const MOST_DF = 50

const COLLECTOR = '(garbage collector)'
const NODE = 'Node itself'
const OTHERS = 'other threads, no function'

/** Seconds or bytes per request, by the key of a function. */
type Amounts = ReadonlyMap<string, number>
type Pair<Of = Amounts> = readonly [before: Of, after: Of]

/** @returns undefined if too few pairs were profiled */
export function whyOf(
  { race, over, under, decides, ratio, others }: Finding,
  cells: readonly CellFigures[],
  profiles: readonly ProfiledStart[],
): Why | undefined {
  const starts = pairsOf(profiles, { race, before: under, after: over })
  if (starts.length < LEAST_PAIRS) return undefined
  const times = starts.map((pair) => normalised(both(pair, timesOf)))
  const all = times.map((pair) => both(pair, ({ own }) => own))
  const functions = compare(
    all.map((pair) => both(pair, functionsIn)),
    LEAST,
  )
  const floor = Math.max(FLOOR, FLOOR_PART * mean(all.map(([before]) => sumOf(before))))
  const isLarge = ({ isShown, difference }: Part) => isShown && Math.abs(difference.value) >= floor
  const large = functions.filter(isLarge)
  const [top, another] = groupsOf(large, all, isLarge)
  const called = compare(
    times.map((pair) => both(pair, ({ called }) => called)),
    LEAST,
  ).find((one) => isLarge(one) && top !== undefined && isCalledBy(one, top.lead) && partOf(one, top.lead) > 0)
  const isMostCalled = called !== undefined && top !== undefined && partOf(called, top.lead) >= DOMINANT
  const lead = isMostCalled ? called : top?.lead
  const isAlone = top?.isAlone ?? false
  const cost = cells.find((one) => one.race === race && one.system === under)?.figures.cpu?.value
  const cpu = decides === 'cpu' ? ratio : others.find(({ metric }) => metric === 'cpu')?.ratio
  const shown = [...new Set([...large, ...functions])].slice(0, Math.max(SHOWN, large.length))
  return {
    race,
    before: under,
    after: over,
    starts: starts.length,
    difference: cost && cpu ? less(cpu, 1, cost) : null,
    cause:
      top && lead
        ? isAlone
          ? { part: lead, of: [] }
          : { part: top.row, of: top.functions.slice(0, 3) }
        : null,
    next: (isAlone && !isMostCalled ? called : undefined) ?? another?.lead ?? null,
    rows: [...shown, ...restOf(all, shown)],
    allocated: allocatedOf(starts),
    perSample: times.map(([before, after]) => ({ before: before.each, after: after.each })),
  }
}

/** A start of a pair, in whose trees a file has the name that it has after the change. */
interface Start extends Pick<ProfiledStart, 'cpu'> {
  tree: Tree
  allocated: { requests: number; tree: Tree } | null
}

/** Starts that were profiled on both sides. */
export function pairsOf(
  profiles: readonly ProfiledStart[],
  { race, before, after }: Pick<Why, 'race' | 'before' | 'after'>,
): Pair<Start>[] {
  const own = profiles
    .filter((one) => one.race === race)
    .map(({ samples, allocated, ...one }) => ({
      ...one,
      tree: unpackTree(samples),
      allocated: allocated && { ...allocated, tree: unpackTree(allocated.bytes) },
    }))
  const of = (name: string) => own.filter(({ system }) => system === name)
  const renamed = filesByOldName(
    of(before).map(({ tree }) => tree),
    of(after).map(({ tree }) => tree),
  )
  const rename = (tree: Tree) =>
    tree.map((frame) => ({ ...frame, file: renamed.get(frame.file) ?? frame.file }))
  return of(before).flatMap(({ cpu, tree, allocated, start }): Pair<Start>[] => {
    const second = of(after).find((one) => one.start === start)
    if (second === undefined) return []
    return [
      [
        { cpu, tree: rename(tree), allocated: allocated && { ...allocated, tree: rename(allocated.tree) } },
        second,
      ],
    ]
  })
}

function both<From, To>([before, after]: Pair<From>, map: (one: From, side: 0 | 1) => To): Pair<To> {
  return [map(before, 0), map(after, 1)]
}

function less({ value, low, high }: Interval, from: number, times: number): Interval {
  const scaled = (end: number | null) => end && (end - from) * times
  return { value: (value - from) * times, low: scaled(low), high: scaled(high) }
}

/** Of a difference, 0 to 1 and beyond. */
const partOf = (one: Part, all: Part) => one.difference.value / all.difference.value

const isCalledBy = ({ name, file }: Part, lead: Part) =>
  file === lead.file && name.endsWith(`, called by ${lead.name}`)

/** Whose time a frame's samples are, and what it calls directly where that is a builtin of V8. */
interface Owner {
  key: string
  called?: string
  isOwn: boolean
}

const keyOf = (name: string, file: string) => `${name}\n${file}`
const isProject = (file: string) => file !== '' && !file.startsWith('node:')

/**
 * Own time is self time and that of builtins called directly, given to the nearest function of the project or a package; Node's internals are
 * named by the one that it calls. Times with all callees fail with chains of `next()`: they are in each other.
 */
function ownersOf(tree: Tree): Owner[] {
  const owners: Owner[] = []
  for (const { name, file, parent } of tree) {
    const [above, caller] = [owners[parent], tree[parent]]
    if (isProject(file)) owners.push({ key: keyOf(name, file), isOwn: true })
    else if (file === '' && /^\((?:garbage collector|program)\)$/.test(name))
      owners.push({ key: keyOf(name === COLLECTOR ? COLLECTOR : OTHERS, ''), isOwn: false })
    else if (above === undefined || caller === undefined) owners.push({ key: keyOf(NODE, ''), isOwn: false })
    else if (!above.isOwn) owners.push(above)
    else {
      const key = keyOf(`${name}, called by ${caller.name}`, caller.file)
      owners.push(file === '' ? { key: above.key, called: key, isOwn: false } : { key, isOwn: false })
    }
  }
  return owners
}

function amountsOf(tree: Tree, each: number, key: (owner: Owner) => string | undefined): Amounts {
  const amounts = new Map<string, number>()
  for (const [index, owner] of ownersOf(tree).entries()) {
    const [own, count] = [key(owner), tree[index]?.count ?? 0]
    if (own !== undefined && count > 0) amounts.set(own, (amounts.get(own) ?? 0) + count * each)
  }
  return amounts
}

interface Times {
  own: Amounts
  called: Amounts
  /** Seconds per request of a sample. */
  each: number
}

/** Samples are counted: with the times between them, 18 of 28 planted changes came first instead of 24. */
function timesOf({ cpu: { profiled, all }, tree }: Start): Times {
  const each = profiled / tree.reduce((sum, { count }) => sum + count, 0)
  const rest = keyOf(OTHERS, '')
  const own = new Map(amountsOf(tree, each, ({ key }) => key))
  own.set(rest, (own.get(rest) ?? 0) + Math.max(0, all - profiled))
  return { own, called: amountsOf(tree, each, ({ called }) => called), each }
}

/** A start that was slow as a whole: most functions did not change, so the weighted median of their ratios is what both do not share. */
function normalised([before, after]: Pair<Times>): Pair<Times> {
  const ratios = [...before.own].flatMap(([key, first]) => {
    const second = after.own.get(key) ?? 0
    return first >= LEAST && second >= LEAST
      ? [{ ratio: second / first, weight: Math.min(first, second) }]
      : []
  })
  ratios.sort((a, b) => a.ratio - b.ratio)
  let left = ratios.reduce((sum, { weight }) => sum + weight, 0) / 2
  let ratio = 1
  for (const one of ratios) {
    if (left > 0) ratio = one.ratio
    left -= one.weight
  }
  const scale = ({ own, called, each }: Times, factor: number): Times => {
    const scaled = (amounts: Amounts) => new Map([...amounts].map(([key, one]) => [key, one * factor]))
    return { own: scaled(own), called: scaled(called), each: each * factor }
  }
  return [scale(before, Math.sqrt(ratio)), scale(after, 1 / Math.sqrt(ratio))]
}

function functionsIn(amounts: Amounts): Amounts {
  return new Map([...amounts].filter(([key]) => !key.endsWith('\n')))
}

function sumOf(amounts: Amounts): number {
  return [...amounts.values()].reduce((sum, one) => sum + one, 0)
}

function byGroup(amounts: Amounts): Amounts {
  const groups = new Map<string, number>()
  for (const [key, one] of amounts) {
    const group = keyOf('', groupOf(key.split('\n')[1] ?? ''))
    groups.set(group, (groups.get(group) ?? 0) + one)
  }
  return groups
}

/** A file of the project, or a package: `node_modules/@scope/name`. */
function groupOf(file: string): string {
  return /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? file
}

/**
 * Differences, the largest first. Variances are drawn towards what functions of their size have: few starts say little of each.
 * @param least amounts below are left out
 */
function compare(pairs: readonly Pair[], least: number): Part[] {
  const keys = new Set(pairs.flatMap(([before, after]) => [...before.keys(), ...after.keys()]))
  const rows = [...keys].flatMap((key) => {
    const values = pairs.map((pair) => both(pair, (amounts) => amounts.get(key) ?? 0))
    const [before, after] = [mean(values.map(([one]) => one)), mean(values.map(([, one]) => one))]
    const size = (before + after) / 2
    const variance = sampleVariance(values.map(([one, other]) => other - one)) / size
    return Math.max(before, after) < least
      ? []
      : [{ key, before, after, size, observed: { variance, df: pairs.length - 1 } }]
  })
  if (rows.length === 0) return []
  const prior = fitPrior(rows.map(({ observed }) => observed))
  const tested = rows.map(({ key, before, after, size, observed }) => {
    const { variance, df: all } = squeeze(observed, { ...prior, df: Math.min(prior.df, MOST_DF) })
    const estimate = {
      estimate: after - before,
      standardError: Math.sqrt((variance * size) / pairs.length),
      df: all,
    }
    const halfWidth = tQuantile(0.975, all) * estimate.standardError
    const value = after - before
    const [name = '', file = ''] = key.split('\n')
    const difference = { value, low: value - halfWidth, high: value + halfWidth }
    return { p: pValue(estimate), part: { name, file, before, after, difference } }
  })
  const adjusted = holm(tested.map(({ p }) => p))
  return tested
    .map(({ part }, index) => ({ ...part, isShown: (adjusted[index] ?? 1) < LEVEL }))
    .sort((a, b) => Math.abs(b.difference.value) - Math.abs(a.difference.value))
}

/** Files and packages with functions that differ. Where some gain and others lose, as after a renaming, the sum has to differ as well. */
function groupsOf(large: readonly Part[], all: readonly Pair[], isLarge: (part: Part) => boolean) {
  const sums = compare(
    all.map((pair) => both(pair, (one) => byGroup(functionsIn(one)))),
    LEAST,
  )
  return [...Map.groupBy(large, ({ file }) => groupOf(file))]
    .flatMap(([group, functions]) => {
      const row = sums.find(({ file }) => file === group)
      const isMixed = functions.some((one) => functions[0] && partOf(one, functions[0]) < 0)
      if (row === undefined || (isMixed && !isLarge(row))) return []
      const own = functions.filter((one) => partOf(one, row) > 0)
      const value = own.reduce((sum, { difference }) => sum + difference.value, 0)
      const [lead] = own
      return lead === undefined
        ? []
        : [{ row, lead, functions: own, isAlone: lead.difference.value / value >= DOMINANT }]
    })
    .sort((a, b) => Math.abs(b.row.difference.value) - Math.abs(a.row.difference.value))
}

/** What a table has beside its functions, so that its rows add up. */
function restOf(all: readonly Pair[], shown: readonly Part[]): Part[] {
  const keys = new Set(shown.map(({ name, file }) => keyOf(name, file)))
  const kindOf = (key: string) =>
    key.endsWith('\n') ? key.slice(0, -1) : keys.has(key) ? '' : 'all other functions'
  return ['all other functions', NODE, COLLECTOR, OTHERS].map((name) => {
    const only = (amounts: Amounts) => sumOf(new Map([...amounts].filter(([key]) => kindOf(key) === name)))
    return meanOf(
      name,
      all.map((pair) => both(pair, only)),
    )
  })
}

function meanOf(name: string, pairs: readonly Pair<number>[]): Part {
  const difference = meanInterval(pairs.map(([before, after]) => after - before))
  const [before, after] = [mean(pairs.map(([one]) => one)), mean(pairs.map(([, one]) => one))]
  return { name, file: '', before, after, difference, isShown: false }
}

/** The collector's samples have no stack, so what it has to collect says whose its time is. */
function allocatedOf(starts: readonly Pair<Start>[]): Why['allocated'] {
  const pairs = starts.flatMap((pair): Pair[] => {
    const [before, after] = both(
      pair,
      ({ allocated: own }) => own && amountsOf(own.tree, 1 / own.requests, ({ key }) => key),
    )
    return before && after ? [[before, after]] : []
  })
  if (pairs.length < LEAST_PAIRS) return null
  const all = meanOf(
    'allocated',
    pairs.map((pair) => both(pair, sumOf)),
  )
  const [most] = compare(pairs, LEAST_BYTES)
  // More than all of it is what another function allocated before: V8 inlines.
  const part = most?.isShown ? partOf(most, all) : 0
  return { all, most: most && part >= DOMINANT && part <= 1 / DOMINANT ? most : null }
}

/**
 * Files that only one side has, such as `before.js` and `after.js`, or one that was moved: the ends of their paths or most of their functions have
 * the same names.
 * @returns new names by old ones
 */
function filesByOldName(before: readonly Tree[], after: readonly Tree[]): Map<string, string> {
  const namesBy = (trees: readonly Tree[]) => {
    const files = new Map<string, Set<string>>()
    for (const { name, file } of trees.flat())
      if (isProject(file)) files.set(file, (files.get(file) ?? new Set()).add(name))
    return files
  }
  const [ours, theirs] = [namesBy(before), namesBy(after)]
  const pairs = [...ours].flatMap(([old, names]) =>
    [...theirs].flatMap(([file, others]) => {
      if (ours.has(file) || theirs.has(old)) return []
      const shared = [...names].filter((name) => others.has(name)).length / Math.min(names.size, others.size)
      const end = endOf(old.split('/'), file.split('/'))
      return (end > 0 && shared > 0) || shared >= 0.5 ? [{ old, file, score: end + shared }] : []
    }),
  )
  const found = new Map<string, string>()
  for (const { old, file } of pairs.sort((a, b) => b.score - a.score))
    if (!found.has(old) && ![...found.values()].includes(file)) found.set(old, file)
  return found
}

function endOf(one: string[], other: string[]): number {
  const same = one.toReversed().findIndex((part, index) => part !== other.at(-1 - index))
  return same < 0 ? one.length : same
}
