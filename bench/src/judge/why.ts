import { holm, type Interval, meanInterval, pValue } from '@startgrid/stats/estimate.ts'
import { mean, median, sampleVariance } from '@startgrid/stats/moments.ts'
import { tQuantile } from '@startgrid/stats/student.ts'
import { fitPrior, squeeze } from '@startgrid/stats/variances.ts'
import type { CellFigures, Finding } from '../result/figures.ts'
import { type Part, type ProfiledStart, type Tree, unpackTree, type Why } from '../result/profile.ts'

/** Which functions account for a difference: own time per request, in pairs of starts that were profiled. */

/** Seconds per request. Functions below the first are not looked at; nobody would act on differences below the others. */
const LEAST = 1e-7
const FLOOR = 3e-7
const FLOOR_PART = 0.005
const LEAST_BYTES = 16
/** One of several is named alone if it has this part of their difference. */
const DOMINANT = 0.6
const LEAST_PAIRS = 4
/** The ratio of the race is between other ends by this factor at least. */
const FAR = 1.1
/** With less than this part of the time in functions that both sides have, their median is one of few. */
const SHARED = 0.5
const SHOWN = 8
const LEVEL = 0.05
/** Of a prior: with more, the variance of a function would say nothing. */
const MOST_DF = 50

const UNNAMED = '(anonymous)'
const COLLECTOR = '(garbage collector)'
const NODE = 'Node itself'
const OTHERS = 'other threads, no function'
const REST = 'all other functions'

type Pair<Of> = readonly [before: Of, after: Of]
/** Of one pair of starts, per request, by `keyOf` a function. */
type Amounts = ReadonlyMap<string, Pair<number>>

const keyOf = (name: string, file = '') => `${name}\n${file}`
const fileIn = (key: string) => key.slice(key.indexOf('\n') + 1)
const isProject = (file: string) => file !== '' && !file.startsWith('node:')
const bySize = (a: Pick<Part, 'difference'>, b: Pick<Part, 'difference'>) =>
  Math.abs(b.difference.value) - Math.abs(a.difference.value)
const partOf = (one: Part, all: Part) => one.difference.value / all.difference.value

/** @returns undefined if too few pairs were profiled */
export function whyOf(
  { race, over, under, decides, ratio, others }: Finding,
  cells: readonly CellFigures[],
  profiles: readonly ProfiledStart[],
): Why | undefined {
  const starts = pairsOf(profiles, { race, before: under, after: over })
  if (starts.length < LEAST_PAIRS) return undefined
  const cpu = decides === 'cpu' ? ratio : others.find(({ metric }) => metric === 'cpu')?.ratio
  const cost = cells.find((one) => one.race === race && one.system === under)?.figures.cpu?.value
  const medianOf = (of: (start: Start) => number) => median(starts.flat().map(of))
  // The race knows best what a request costs.
  const usual =
    cost && cpu
      ? cost * Math.sqrt(cpu.value) * medianOf((one) => one.cpu.profiled / one.cpu.all)
      : medianOf((one) => one.cpu.profiled)
  const times = timesWithin(starts, usual, cpu)
  const own = times.map((one) => one.own)
  const unnamed = placesOfUnnamed(starts.map(([, { tree }]) => tree))
  const functions = compare(own.map(functionsIn)).map((part) =>
    part.name === UNNAMED ? { ...part, ...unnamed.get(part.file) } : part,
  )
  const more = (end: number | null) => end && (end - 1) * (cost ?? 0)
  const difference =
    cost && cpu ? { value: (cpu.value - 1) * cost, low: more(cpu.low), high: more(cpu.high) } : null
  const floor = Math.max(FLOOR, FLOOR_PART * usual)
  const isLarge = ({ isShown, difference }: Part) => isShown && Math.abs(difference.value) >= floor
  const large = functions.filter(isLarge)
  const wanted = difference && ((difference.high ?? 0) < 0 ? -1 : 1)
  const [top, another] = groupsOf(large, own, isLarge, wanted)
  const builtins = compare(times.map((one) => one.called))
  const called = builtins.find(
    (one) => top?.isAlone && isLarge(one) && isCalledBy(one, top.lead) && partOf(one, top.lead) > 0,
  )
  const [second] = [top?.isAlone ? top.functions[1] : undefined, another?.lead]
    .filter((one) => one !== undefined)
    .sort(bySize)
  const isMost = called !== undefined && top !== undefined && partOf(called, top.lead) >= DOMINANT
  // Code is slow that uses an object with another prototype, in some versions of Node much more than in others.
  const changer = builtins.find((one) => one.name.startsWith('setPrototypeOf, ') && isLarge(one))
  const isElsewhere = difference !== null && !(top && top.row.difference.value / difference.value > 0.5)
  const rows = [...new Set([...large, ...functions])].slice(0, Math.max(SHOWN, large.length))
  const listed = new Set(rows.map(({ name, file }) => keyOf(name, file)))
  const restOf = (key: string) => (fileIn(key) === '' ? key.trim() : listed.has(key) ? '' : REST)
  const lead = isMost ? called : top?.lead
  return {
    race,
    before: under,
    after: over,
    starts: starts.length,
    difference,
    cause:
      top && lead
        ? top.isAlone
          ? { part: lead, of: [] }
          : { part: top.row, of: top.functions.slice(0, 3) }
        : null,
    suspect: (isElsewhere && changer) || null,
    next: (isMost ? undefined : called) ?? second ?? null,
    rows: [...rows, ...sumsOf(own, restOf).filter(({ name }) => name !== '')],
    allocated: allocatedOf(starts),
    perSample: times.map(({ each: [before, after] }) => ({ before, after })),
  }
}

/** Nothing but a line tells which function without a name it is, and who calls it: in the same file that is mostly the function around it. */
function placesOfUnnamed(trees: readonly Tree[]): Map<string, Pick<Part, 'line' | 'caller'>> {
  const frames = trees.flatMap((tree) =>
    tree
      .filter(({ name }) => name === UNNAMED)
      .map(({ file, line, count, parent }) => {
        let above = tree[parent]
        while (above && (!isProject(above.file) || above.name === UNNAMED)) above = tree[above.parent]
        return { file, count, place: { line, ...(above?.file === file && { caller: above.name }) } }
      }),
  )
  return new Map(frames.sort((a, b) => a.count - b.count).map(({ file, place }) => [file, place]))
}

interface Start extends Pick<ProfiledStart, 'start' | 'cpu'> {
  tree: Tree
  allocated: { requests: number; tree: Tree } | null
}

/** Starts that were profiled on both sides. Before the change, files have the names that they have after it. */
export function pairsOf(
  profiles: readonly ProfiledStart[],
  { race, before, after }: Pick<Why, 'race' | 'before' | 'after'>,
): Pair<Start>[] {
  const startsOf = (system: string, rename = (tree: Tree) => tree) =>
    profiles
      .filter((one) => one.race === race && one.system === system)
      .map(({ start, cpu, samples, allocated }): Start => {
        const bytes = allocated && { ...allocated, tree: rename(unpackTree(allocated.bytes)) }
        return { start, cpu, tree: rename(unpackTree(samples)), allocated: bytes }
      })
  const second = startsOf(after)
  const [old = [], now = []] = [startsOf(before), second].map((some) => some.flatMap(({ tree }) => tree))
  const newNames = renamed(old, now)
  const rename = (tree: Tree) =>
    tree.map((frame) => ({ ...frame, file: newNames.get(frame.file) ?? frame.file }))
  return startsOf(before, rename).flatMap((one): Pair<Start>[] => {
    const other = second.find(({ start }) => start === one.start)
    return other === undefined ? [] : [[one, other]]
  })
}

/** The new names of files that only one side has, such as `before.js` and `after.js`, or that were moved: they share most functions. */
function renamed(before: Tree, after: Tree): Map<string, string> {
  const [old, now] = [namesIn(before), namesIn(after)]
  const found = new Map<string, string>()
  for (const [file, names] of now) {
    if (old.has(file)) continue
    const sharing = [...old].flatMap(([before, others]) => {
      const shared = [...names].filter((name) => others.has(name)).length
      const part = shared / Math.min(names.size, others.size)
      return now.has(before) || found.has(before) || part <= 0.5 ? [] : [{ before, part }]
    })
    const [best] = sharing.sort((a, b) => b.part - a.part)
    if (best !== undefined) found.set(best.before, file)
  }
  return found
}

/** Of functions, by file. */
function namesIn(tree: Tree): Map<string, Set<string>> {
  const files = Map.groupBy(tree, ({ file }) => file)
  return new Map([...files].map(([file, own]) => [file, new Set(own.map(({ name }) => name))]))
}

/** Whose time a frame's samples are, and what it calls directly where that is a builtin of V8. */
interface Owner {
  key: string
  called?: string
  isOwn?: true
}

/**
 * Own time is self time and that of builtins called directly, given to the nearest function of the project or a package; Node's internals are
 * named by the one that it calls. Times with all callees fail with chains of `next()`: they are in each other.
 */
function ownersOf(tree: Tree): Owner[] {
  const owners: Owner[] = []
  for (const { name, file, parent } of tree) {
    const [above, caller] = [owners[parent], tree[parent]]
    const called = keyOf(`${name}, called by ${caller?.name}`, caller?.file)
    if (isProject(file)) owners.push({ key: keyOf(name, file), isOwn: true })
    else if (name === COLLECTOR) owners.push({ key: keyOf(COLLECTOR) })
    else if (name === '(program)') owners.push({ key: keyOf(OTHERS) })
    else if (!above?.isOwn) owners.push(above ?? { key: keyOf(NODE) })
    else owners.push(file === '' ? { key: above.key, called } : { key: called })
  }
  return owners
}

const isCalledBy = ({ name, file }: Part, lead: Part) =>
  file === lead.file && name.endsWith(`, called by ${lead.name}`)

/** @param each what a count is, per request */
function amountsOf(pair: Pair<{ tree: Tree }>, each: Pair<number>, of: 'key' | 'called') {
  const amounts = new Map<string, Pair<number>>()
  for (const side of [0, 1] as const)
    for (const [index, owner] of ownersOf(pair[side].tree).entries()) {
      const [key, count] = [owner[of], pair[side].tree[index]?.count ?? 0]
      if (key !== undefined && count > 0)
        add(amounts, key, side === 0 ? [count * each[0], 0] : [0, count * each[1]])
    }
  return amounts
}

function add(amounts: Map<string, Pair<number>>, key: string, [before, after]: Pair<number>): void {
  const [first, second] = amounts.get(key) ?? [0, 0]
  amounts.set(key, [first + before, second + after])
}

/**
 * The median of functions says nothing where most of them changed, as with another version of Node, or where most have other names, as after
 * a minifier. Then the ratio of the race counts.
 */
function timesWithin(starts: readonly Pair<Start>[], usual: number, race: Interval | null | undefined) {
  const times = starts.map((pair) => timesOf(pair, usual))
  const found = mean(times.map(({ ratio }) => ratio))
  const far = mean(times.map(({ shared }) => shared)) < SHARED ? 1 : FAR
  const isFar = (low: number, high: number) => found * far < low || found > high * far
  const isWrong = race && race.low !== null && race.high !== null && isFar(race.low, race.high)
  return isWrong ? starts.map((pair) => timesOf(pair, usual, race.value)) : times
}

/**
 * Samples are counted: with the times between them, 18 of 28 planted changes came first instead of 24. Most functions did not change, so the
 * weighted median of their ratios is what both sides do not share.
 * @param usual CPU seconds of a request: how slow a start is as a whole says nothing of its functions
 */
function timesOf(pair: Pair<Start>, usual: number, wanted?: number) {
  const [before, after] = pair.map(({ tree }) => usual / tree.reduce((sum, { count }) => sum + count, 0))
  const raw = [before ?? 0, after ?? 0] as const
  const known = [...amountsOf(pair, raw, 'key').values()].filter((one) => Math.min(...one) >= LEAST)
  const ratios = known.map(([first, second]) => ({ ratio: first / second, weight: Math.min(first, second) }))
  let left = ratios.reduce((sum, { weight }) => sum + weight, 0) / 2
  let ratio = wanted ?? 1
  for (const one of wanted === undefined ? ratios.sort((a, b) => a.ratio - b.ratio) : []) {
    if (left > 0) ratio = one.ratio
    left -= one.weight
  }
  const factors = [1 / Math.sqrt(ratio), Math.sqrt(ratio)] as const
  const each = [raw[0] * factors[0], raw[1] * factors[1]] as const
  const own = amountsOf(pair, each, 'key')
  const functions = [...own].filter(([key]) => fileIn(key) !== '').map(([, one]) => one)
  const sumBy = (of: (one: Pair<number>) => number) => functions.reduce((sum, one) => sum + of(one), 0)
  const shared = sumBy((one) => Math.min(...one)) / sumBy((one) => Math.max(...one))
  const others = ({ cpu: { all, profiled } }: Start) => Math.max(0, all / profiled - 1) * usual
  add(own, keyOf(OTHERS), [others(pair[0]) * factors[0], others(pair[1]) * factors[1]])
  return { own, called: amountsOf(pair, each, 'called'), each, ratio, shared }
}

function functionsIn(amounts: Amounts): Amounts {
  return new Map([...amounts].filter(([key]) => fileIn(key) !== ''))
}

function regroup(amounts: Amounts, groupOf: (key: string) => string): Amounts {
  const groups = new Map<string, Pair<number>>()
  for (const [key, one] of amounts) add(groups, groupOf(key), one)
  return groups
}

/** Sums with their plain intervals, by name. */
function sumsOf(pairs: readonly Amounts[], nameOf: (key: string) => string): Part[] {
  const sums = pairs.map((one) => regroup(one, nameOf))
  return partsOf(sums).sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** By key, with plain intervals. */
function partsOf(pairs: readonly Amounts[]): (Part & { changes: number[] })[] {
  return [...new Set(pairs.flatMap((one) => [...one.keys()]))].map((key) => {
    const values = pairs.map((one) => one.get(key) ?? ([0, 0] as const))
    const [name = '', file = ''] = key.split('\n')
    const [before, after] = [mean(values.map(([one]) => one)), mean(values.map(([, one]) => one))]
    const changes = values.map(([one, other]) => other - one)
    return { name, file, before, after, changes, difference: meanInterval(changes), isShown: false }
  })
}

/**
 * Differences, the largest first. Variances are drawn towards what functions of their size have: few starts say little of each.
 * @param least amounts below are left out
 */
function compare(pairs: readonly Amounts[], least = LEAST): Part[] {
  const rows = partsOf(pairs)
    .filter(({ before, after }) => Math.max(before, after) >= least)
    .map(({ changes, ...part }) => {
      const size = (part.before + part.after) / 2
      return { part, size, variance: sampleVariance(changes) / size, df: pairs.length - 1 }
    })
  if (rows.length === 0) return []
  const fitted = fitPrior(rows)
  const prior = { ...fitted, df: Math.min(fitted.df, MOST_DF) }
  const tested = rows.map(({ part, size, ...observed }) => {
    const { variance, df } = squeeze(observed, prior)
    const { value } = part.difference
    const standardError = Math.sqrt((variance * size) / pairs.length)
    const half = tQuantile(0.975, df) * standardError
    const difference: Interval = { value, low: value - half, high: value + half }
    return { p: pValue({ estimate: value, standardError, df }), part: { ...part, difference } }
  })
  const adjusted = holm(tested.map(({ p }) => p))
  return tested.map(({ part }, index) => ({ ...part, isShown: (adjusted[index] ?? 1) < LEVEL })).sort(bySize)
}

/**
 * Files of the project, and packages, with functions that differ. Where some gain and others lose, as after a renaming, the sum has to differ as
 * well.
 * @param wanted the sign of those that come first: who asks why it is slower wants no gain
 */
function groupsOf(
  large: readonly Part[],
  own: readonly Amounts[],
  isLarge: (part: Part) => boolean,
  wanted: number | null,
) {
  const groupOf = (file: string) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? file
  const groups = own.map((one) => regroup(functionsIn(one), (key) => keyOf('', groupOf(fileIn(key)))))
  const found = compare(groups).flatMap((row) => {
    const all = large.filter(({ file }) => groupOf(file) === row.file)
    const functions = all.filter((one) => partOf(one, row) > 0)
    const [lead] = functions
    if (lead === undefined || (functions.length < all.length && !isLarge(row))) return []
    // Most of it may have moved to another function, as after a renaming.
    const same = functions.reduce((sum, { difference }) => sum + difference.value, 0)
    const isAlone = lead.difference.value / same >= DOMINANT && partOf(lead, row) <= 1 / DOMINANT
    return [{ row, lead, functions: isAlone ? functions : all, isAlone }]
  })
  const isWanted = ({ difference }: Part) => Number(Math.sign(difference.value) === wanted)
  return found.sort((a, b) => isWanted(b.row) - isWanted(a.row) || bySize(a.row, b.row))
}

/** The collector's samples have no stack, so what it has to collect says whose its time is. */
function allocatedOf(starts: readonly Pair<Start>[]): Why['allocated'] {
  const pairs = starts.flatMap(([{ allocated: one }, { allocated: other }]) =>
    one && other ? [amountsOf([one, other], [1 / one.requests, 1 / other.requests], 'key')] : [],
  )
  const [all] = sumsOf(pairs, () => 'allocated')
  if (all === undefined || pairs.length < LEAST_PAIRS) return null
  const [most] = compare(pairs, LEAST_BYTES)
  // More than all of it is what another function allocated before: V8 inlines.
  const part = most?.isShown ? partOf(most, all) : 0
  return { all, most: most && part >= DOMINANT && part <= 1 / DOMINANT ? most : null }
}
