import { estimateOf, pValue, toInterval } from '@startgrid/stats/estimate.ts'
import { holm } from '@startgrid/stats/multiplicity.ts'
import { fitPassBlocks, type Observation } from '@startgrid/stats/pass-blocks.ts'
import { createRandom, type Random, shuffle } from '@startgrid/stats/random.ts'
import { type Fitted, fitLayouts } from '@startgrid/stats/variances.ts'
import { type ColdStart, findColdStarts } from '@startgrid/stats/warmup-test.ts'
import { type Findings, METRICS, type Metric, type Run, type RunOptions } from './score.ts'
import { type Cell, type HeatOfWorld, type Outcome, ROLES, type Role, type World } from './world.ts'

/**
 * The method of the benchmark, written once more from the statistics alone: passes as blocks, a test of warm-up, moderated t, Holm. What the benchmark itself
 * makes of the same worlds should be as good.
 */

/** Slices in which others had more of the core than this do not count. */
const TAKEN = 0.2

/** What a cold cell gets in later heats: after one more pass it was still cold, and intervals covered 90 % in place of 94 %. */
const MORE_PASSES = 2

interface MeasuredSlice extends Outcome {
  cell: number
  pass: number
}

interface MeasuredHeat {
  role: Role
  /** Those that count. */
  slices: MeasuredSlice[]
  /** Of their CPU, pass-adjusted. */
  residuals: (number | null)[]
  /** Additional passes of warm-up, by cell. */
  more: ReadonlyMap<string, number>
}

export function measureByReference(world: World, options: RunOptions): Run {
  const random = createRandom(options.seed)
  const heats: MeasuredHeat[] = []
  const more = new Map<string, number>()
  // What was found once stays found, because later launches have more warm-up.
  const cold = new Map<string, ColdGroup>()
  let rounds = 0
  const addRounds = (count: number, maxSeconds: number) => {
    const last = rounds + count
    let longest = 0
    for (; rounds < last; rounds++) {
      for (const role of shuffle(ROLES, random)) {
        if (rounds >= 2 && world.now + longest > maxSeconds) return
        const began = world.now
        heats.push(measureHeat(world, role, options, random, more))
        longest = Math.max(longest, world.now - began)
      }
      const found = coldGroups(world, heats, 0.01 / (rounds + 1))
      for (const one of found) cold.set(`${one.cell} ${levelOf(one)}`, one)
      warmMore(more, found)
    }
  }
  addRounds(options.heats, options.maxSeconds)
  return {
    extend: async (count) => addRounds(count, Number.POSITIVE_INFINITY),
    findings: () => judge(world, heats, [...cold.values()]),
  }
}

function measureHeat(
  world: World,
  role: Role,
  { passes, sliceSeconds }: RunOptions,
  random: Random,
  more: ReadonlyMap<string, number>,
): MeasuredHeat {
  const cells = world.cells.filter((cell) => cell.role === role)
  const heat = world.startHeat(role)
  const plans = cells.map((cell, index) => ({
    index,
    cell,
    ...warm(heat, cell, more, { passes, sliceSeconds }),
  }))
  const slices: MeasuredSlice[] = []
  for (let pass = 0; pass < passes; pass++) {
    const short = plans.filter(({ every }) => every === 1)
    const long = plans.filter(({ every }) => every > 1 && pass % every === every - 1)
    for (const { cell, index, seconds } of [...shuffle(short, random), ...shuffle(long, random)])
      slices.push({ ...heat.slice(cell.id, seconds), cell: index, pass })
  }
  const kept = counted(slices)
  return { role, slices: kept, residuals: fit(cells, kept, 'cpu').residuals, more: new Map(more) }
}

/** Warms a cell, and decides how it will be measured: cells that need long slices join every k-th pass, three times at least. */
function warm(
  heat: HeatOfWorld,
  cell: Cell,
  more: ReadonlyMap<string, number>,
  { passes, sliceSeconds }: Pick<RunOptions, 'passes' | 'sliceSeconds'>,
): { every: number; seconds: number } {
  const { requests, seconds } = heat.slice(cell.id, cell.topology === 'direct' ? 1 : 0.25, true)
  for (let pass = 0; pass < (more.get(cell.id) ?? 0); pass++) heat.slice(cell.id, 0.25)
  const least = (4 * cell.connections * seconds) / requests
  if (least <= sliceSeconds) return { every: 1, seconds: sliceSeconds }
  const count = Math.max(3, Math.floor((passes * sliceSeconds) / least))
  return { every: Math.max(2, Math.floor(passes / count)), seconds: least }
}

/** Those that nobody visibly disturbed; all of a cell, if these were less than half. */
function counted(slices: readonly MeasuredSlice[]): MeasuredSlice[] {
  const few = new Set<number>()
  for (const [cell, own] of Map.groupBy(slices, (slice) => slice.cell))
    if (own.filter(({ taken }) => taken <= TAKEN).length < own.length / 2) few.add(cell)
  return slices.filter(({ cell, taken }) => few.has(cell) || taken <= TAKEN)
}

function fit(cells: readonly Cell[], slices: readonly MeasuredSlice[], metric: Metric) {
  const longest = cells.map((_, index) =>
    Math.max(0, ...slices.filter(({ cell }) => cell === index).map(({ seconds }) => seconds)),
  )
  const typical = Math.min(...longest.filter((seconds) => seconds > 0))
  const classes = longest.map((seconds) => Number(seconds > 2 * typical))
  return fitPassBlocks(
    slices.map((slice): Observation => ({ cell: slice.cell, pass: slice.pass, value: logOf(slice, metric) })),
    classes,
  )
}

function logOf({ requests, seconds, cpuSeconds }: MeasuredSlice, metric: Metric): number {
  return metric === 'rate' ? Math.log(requests / seconds) : Math.log(cpuSeconds / requests)
}

/** Launches of one cell that had the same warm-up. */
interface ColdGroup extends ColdStart {
  cell: string
  heats: MeasuredHeat[]
}

function coldGroups(world: World, heats: readonly MeasuredHeat[], level: number): ColdGroup[] {
  const groups = world.cells.flatMap((cell) => {
    const own = heats.filter(({ role }) => role === cell.role)
    return [...Map.groupBy(own, ({ more }) => more.get(cell.id) ?? 0).values()].map((same) => ({
      cell,
      heats: same,
    }))
  })
  const found = findColdStarts(
    groups.map(({ cell, heats: same }) => {
      const index = indexOf(world, cell)
      return same.map(({ slices, residuals }) =>
        slices.flatMap((slice, place) => {
          const residual = residuals[place] ?? null
          return slice.cell === index && residual !== null ? [{ seconds: slice.seconds, residual }] : []
        }),
      )
    }),
    level,
  )
  return groups.flatMap(({ cell, heats: same }, place) => {
    const one = found[place]
    return one?.cold ? [{ ...one, cell: cell.id, heats: same }] : []
  })
}

function indexOf(world: World, { id, role }: Cell): number {
  return world.cells.filter((cell) => cell.role === role).findIndex((cell) => cell.id === id)
}

function levelOf({ cell, heats }: Pick<ColdGroup, 'cell' | 'heats'>): number {
  return heats[0]?.more.get(cell) ?? 0
}

/** Cells that were cold with as much warm-up as they now get have more passes of it in later heats. */
function warmMore(more: Map<string, number>, cold: readonly ColdGroup[]): void {
  const before = new Map(more)
  for (const { cell, heats } of cold) {
    const level = before.get(cell) ?? 0
    if (levelOf({ cell, heats }) === level) more.set(cell, level + MORE_PASSES)
  }
}

function withoutCold(world: World, heat: MeasuredHeat, cold: readonly ColdGroup[]): MeasuredSlice[] {
  const cells = world.cells.filter(({ role }) => role === heat.role)
  return cells.flatMap((cell, index) => {
    const own = heat.slices.filter((slice) => slice.cell === index)
    const group = cold.find((one) => one.cell === cell.id && one.heats.includes(heat))
    return own.slice(group?.drop[group.heats.indexOf(heat)] ?? 0)
  })
}

function judge(world: World, heats: readonly MeasuredHeat[], cold: readonly ColdGroup[]): Findings {
  const findings: Findings = {
    ratios: [],
    pairs: [],
    twins: [],
    voided: [],
    cold: [...new Set(cold.map(({ cell }) => cell))],
  }
  for (const role of ROLES) {
    const cells = world.cells.filter((cell) => cell.role === role)
    const own = heats.filter((heat) => heat.role === role)
    const kept = own.map((heat) => withoutCold(world, heat, cold))
    for (const metric of METRICS) addRaces(findings, cells, kept, metric)
  }
  return findings
}

function addRaces(
  findings: Findings,
  cells: readonly Cell[],
  heats: readonly (readonly MeasuredSlice[])[],
  metric: Metric,
): void {
  const fits = heats.map((slices) => fit(cells, slices, metric))
  const layouts = (['direct', 'nginx'] as const).map((topology) => {
    const own = cells.flatMap((cell, index) => (cell.topology === topology ? [{ cell, index }] : []))
    return {
      race: `${own[0]?.cell.role} ${topology} ${metric}`,
      cells: own.map(({ cell }) => cell),
      names: own.map(({ cell }) => cell.app),
      values: own.map(({ index }) => fits.map((one) => one.cells[index] ?? null)),
    }
  })
  for (const fitted of fitLayouts(layouts)) addRace(findings, fitted, metric)
}

/** Ratios to the first app, all pairs by Holm, and the twin. */
function addRace(
  { ratios, pairs, twins }: Findings,
  { race, cells, fit: { contrast }, variances }: Fitted & { race: string; cells: readonly Cell[] },
  metric: Metric,
): void {
  if (variances === null) return
  const compare = (a: number, b: number) => {
    const combination = contrast(a, b)
    if (combination === null) return []
    const estimate = estimateOf(combination, variances)
    const { low, high } = toInterval(estimate)
    const [one, other] = [cells[a], cells[b]]
    return one && other ? [{ a: one.id, b: other.id, metric, low, high, p: pValue(estimate) }] : []
  }
  const racers = cells.flatMap(({ twinOf }, row) => (twinOf === null ? [row] : []))
  ratios.push(...racers.slice(1).flatMap((row) => compare(row, racers[0] ?? 0)))
  const all = racers.flatMap((a, index) => racers.slice(index + 1).flatMap((b) => compare(a, b)))
  const adjusted = holm(all.map(({ p }) => p))
  pairs.push(...all.map((pair, index) => ({ ...pair, race, p: adjusted[index] ?? null })))
  const twin = cells.findIndex(({ twinOf }) => twinOf !== null)
  twins.push(
    ...compare(
      twin,
      cells.findIndex(({ app }) => app === cells[twin]?.twinOf),
    ),
  )
}
