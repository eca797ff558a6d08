/**
 * One heat, measured in passes: value = cell + pass + error. A machine that changes its speed within seconds slows the cells of one pass
 * alike, so cells are compared inside passes (randomised blocks: Fisher 1935, The Design of Experiments, chapter IV).
 */

/** The value of one slice. */
export interface Observation {
  /** From 0. */
  cell: number
  /** From 0. */
  pass: number
  /** A logarithm, because noise acts by a factor. */
  value: number
}

/** Residuals are clipped at this many scales. For normal errors, that is 99 % as efficient as least squares (Huber 1964). */
const CLIP = 2

/** The standard deviation of a normal distribution over its median absolute deviation. */
const MAD_TO_SD = 1.4826

const MOST_ITERATIONS = 100

/** Effects are final when they change by less than this part of the smallest scale. */
const STABLE = 1e-4

/**
 * Fits cells and passes by least squares and clips large residuals, until both agree: Huber's M-estimate by modified residuals (Huber and
 * Ronchetti 2009, Robust Statistics, section 7.8). Every class of cells has a scale of its own, which weights and clips its residuals.
 *
 * A pass with one cell says nothing: its effect would take whatever is left. A cell that shares no pass with any other has no pass
 * effects, and its value is a robust mean.
 * @param observations in any order; they need not be balanced
 * @param classes per cell, from 0: cells whose slices have one length. All cells are of one class by default.
 * @returns per cell its value in a pass of average speed; null for a cell without observations. Cells of one group are linked by passes that they share,
 * and their difference is free of pass effects. Across groups it contains the difference of the times at which they were measured.
 */
export function fitPassBlocks(
  observations: readonly Observation[],
  classes: readonly number[] = [],
): (number | null)[] {
  const layout = describe(observations, classes)
  const { used, values, residuals: fittedResiduals, scales } = layout
  const adjusted = Float64Array.from(values)
  let effects: Float64Array = new Float64Array(layout.cells + layout.passes)
  let weights = scales.map(() => 1)
  let solve = prepare(layout, weights)
  let iterations = 0
  let change = Number.POSITIVE_INFINITY
  do {
    iterations += 1
    const next = solve(adjusted)
    change = iterations === 1 ? change : largestChange(effects, next)
    effects = next
    measureResiduals(layout, effects)
    if (scales.length > 1) {
      weights = weigh(layout)
      solve = prepare(layout, weights)
    }
    for (const index of used) {
      const limit = CLIP * (scales[layout.classOf[index] ?? 0] ?? 0)
      const residual = fittedResiduals[index] ?? 0
      const clipped = Math.max(-limit, Math.min(limit, residual))
      adjusted[index] = (values[index] ?? 0) - residual + clipped
    }
  } while (change > STABLE * Math.min(...scales) && iterations < MOST_ITERATIONS)
  return layout.seen.map((isSeen, cell) => (isSeen ? (effects[cell] ?? null) : null))
}

/** What stays the same during the iterations. Typed arrays: a simulation fits millions of slices. */
interface Layout {
  cells: number
  passes: number
  values: Float64Array
  cellOf: Int32Array
  /** -1 for an observation without a pass effect. */
  passOf: Int32Array
  classOf: Int32Array
  /** Observations that carry information. */
  used: number[]
  /** Of each class: its observations among those, and how many cells it has. */
  members: { indices: number[]; cells: number }[]
  groups: number[]
  /** One cell per linked group has the level of its group. */
  grounded: Set<number>
  seen: boolean[]
  residuals: Float64Array
  scales: number[]
}

function describe(observations: readonly Observation[], classes: readonly number[]): Layout {
  const cells = Math.max(0, ...observations.map(({ cell }) => cell + 1))
  const passes = Math.max(0, ...observations.map(({ pass }) => pass + 1))
  const cellsOfPass = Array.from({ length: passes }, () => new Set<number>())
  for (const { cell, pass } of observations) cellsOfPass[pass]?.add(cell)
  const groups = link(cells, cellsOfPass)
  const sizes = new Map<number, number>()
  for (const group of groups) sizes.set(group, (sizes.get(group) ?? 0) + 1)
  const isAlone = (cell: number) => sizes.get(groups[cell] ?? -1) === 1
  const isShared = (pass: number) => (cellsOfPass[pass]?.size ?? 0) > 1
  const used = [...observations.keys()].filter((index) => {
    const { cell = 0, pass = 0 } = observations[index] ?? {}
    return isAlone(cell) || isShared(pass)
  })
  const classOf = Int32Array.from(observations, ({ cell }) => classes[cell] ?? 0)
  const members = Array.from({ length: Math.max(1, ...classOf.map((one) => one + 1)) }, (_, one) => {
    const indices = used.filter((index) => classOf[index] === one)
    return { indices, cells: new Set(indices.map((index) => observations[index]?.cell)).size }
  })
  return {
    cells,
    passes,
    values: Float64Array.from(observations, ({ value }) => value),
    cellOf: Int32Array.from(observations, ({ cell }) => cell),
    passOf: Int32Array.from(observations, ({ cell, pass }) => (isAlone(cell) ? -1 : pass)),
    classOf,
    used,
    members,
    groups,
    grounded: new Set([...sizes].flatMap(([group, size]) => (size > 1 ? [groups.indexOf(group)] : []))),
    seen: Array.from({ length: cells }, (_, cell) => observations.some((one) => one.cell === cell)),
    residuals: new Float64Array(observations.length),
    scales: members.map(() => 0),
  }
}

/** The lowest cell that each cell is linked to by shared passes. */
function link(cells: number, cellsOfPass: readonly ReadonlySet<number>[]): number[] {
  const groups = Array.from({ length: cells }, (_, cell) => cell)
  for (const present of cellsOfPass) {
    const joined = new Set([...present].map((cell) => groups[cell] ?? cell))
    const lowest = Math.min(...joined)
    if (joined.size > 1)
      for (const [cell, group] of groups.entries()) if (joined.has(group)) groups[cell] = lowest
  }
  return groups
}

/** Weighted least squares: passes are eliminated, and the normal equations of the cells are factored once (Cholesky). */
function prepare(layout: Layout, weights: readonly number[]): (values: Float64Array) => Float64Array {
  const { cells, passes, cellOf, passOf, classOf, used, grounded, seen } = layout
  const cellWeight = new Float64Array(cells)
  const passWeight = new Float64Array(passes)
  const shared = new Float64Array(cells * passes)
  for (const index of used) {
    const weight = weights[classOf[index] ?? 0] ?? 1
    const cell = cellOf[index] ?? 0
    const pass = passOf[index] ?? -1
    cellWeight[cell] = (cellWeight[cell] ?? 0) + weight
    if (pass < 0) continue
    passWeight[pass] = (passWeight[pass] ?? 0) + weight
    shared[cell * passes + pass] = (shared[cell * passes + pass] ?? 0) + weight
  }
  const isFree = (cell: number) => seen[cell] === true && !grounded.has(cell) && (cellWeight[cell] ?? 0) > 0
  const factor = new Float64Array(cells * cells)
  for (let a = 0; a < cells; a++)
    for (let b = 0; b <= a; b++) {
      if (!isFree(a) || !isFree(b)) {
        factor[a * cells + b] = Number(a === b)
        continue
      }
      let sum = a === b ? (cellWeight[a] ?? 0) : 0
      for (let pass = 0; pass < passes; pass++) {
        const both = (shared[a * passes + pass] ?? 0) * (shared[b * passes + pass] ?? 0)
        if (both > 0) sum -= both / (passWeight[pass] ?? 1)
      }
      factor[a * cells + b] = sum
    }
  choleskyInPlace(factor, cells)
  return (values) => {
    const effects = new Float64Array(cells + passes)
    const passSum = new Float64Array(passes)
    for (const index of used) {
      const pass = passOf[index] ?? -1
      if (pass >= 0)
        passSum[pass] = (passSum[pass] ?? 0) + (weights[classOf[index] ?? 0] ?? 1) * (values[index] ?? 0)
    }
    const right = new Float64Array(cells)
    for (const index of used) {
      const cell = cellOf[index] ?? 0
      const pass = passOf[index] ?? -1
      if (!isFree(cell)) continue
      const level = pass < 0 ? 0 : (passSum[pass] ?? 0) / (passWeight[pass] ?? 1)
      right[cell] = (right[cell] ?? 0) + (weights[classOf[index] ?? 0] ?? 1) * ((values[index] ?? 0) - level)
    }
    solveInPlace(factor, right, cells)
    effects.set(right)
    const left = new Float64Array(passes)
    for (const index of used) {
      const pass = passOf[index] ?? -1
      if (pass < 0) continue
      const weight = (weights[classOf[index] ?? 0] ?? 1) / (passWeight[pass] ?? 1)
      left[pass] = (left[pass] ?? 0) + weight * ((values[index] ?? 0) - (right[cellOf[index] ?? 0] ?? 0))
    }
    effects.set(left, cells)
    centre(layout, effects, passWeight)
    return effects
  }
}

/** Gives the pass effects of every group mean 0, and its level to the cells. */
function centre(
  { cells, passes, groups, grounded, cellOf, passOf, used }: Layout,
  effects: Float64Array,
  passWeight: Float64Array,
): void {
  if (grounded.size === 0) return
  const groupOfPass = new Int32Array(passes).fill(-1)
  for (const index of used) {
    const pass = passOf[index] ?? -1
    if (pass >= 0) groupOfPass[pass] = groups[cellOf[index] ?? 0] ?? -1
  }
  for (const cell of grounded) {
    const group = groups[cell] ?? -1
    let sum = 0
    let count = 0
    for (let pass = 0; pass < passes; pass++) {
      if (groupOfPass[pass] !== group || passWeight[pass] === 0) continue
      sum += effects[cells + pass] ?? 0
      count += 1
    }
    const level = sum / count
    for (let pass = 0; pass < passes; pass++)
      if (groupOfPass[pass] === group) effects[cells + pass] = (effects[cells + pass] ?? 0) - level
    for (let one = 0; one < cells; one++)
      if (groups[one] === group) effects[one] = (effects[one] ?? 0) + level
  }
}

/** The lower triangle becomes its factor. */
function choleskyInPlace(matrix: Float64Array, n: number): void {
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * n + j] ?? 0
      for (let k = 0; k < j; k++) sum -= (matrix[i * n + k] ?? 0) * (matrix[j * n + k] ?? 0)
      matrix[i * n + j] = i === j ? Math.sqrt(sum) : sum / (matrix[j * n + j] ?? 1)
    }
}

function solveInPlace(factor: Float64Array, right: Float64Array, n: number): void {
  for (let i = 0; i < n; i++) {
    let sum = right[i] ?? 0
    for (let k = 0; k < i; k++) sum -= (factor[i * n + k] ?? 0) * (right[k] ?? 0)
    right[i] = sum / (factor[i * n + i] ?? 1)
  }
  for (let i = n - 1; i >= 0; i--) {
    let sum = right[i] ?? 0
    for (let k = i + 1; k < n; k++) sum -= (factor[k * n + i] ?? 0) * (right[k] ?? 0)
    right[i] = sum / (factor[i * n + i] ?? 1)
  }
}

function measureResiduals(layout: Layout, effects: Float64Array): void {
  const { cells, cellOf, passOf, values, used, members, residuals, scales } = layout
  for (const index of used) {
    const pass = passOf[index] ?? -1
    const fitted = (effects[cellOf[index] ?? 0] ?? 0) + (pass < 0 ? 0 : (effects[cells + pass] ?? 0))
    residuals[index] = (values[index] ?? 0) - fitted
  }
  for (const [one, { indices }] of members.entries()) {
    const sizes = Float64Array.from(indices, (index) => Math.abs(residuals[index] ?? 0)).sort()
    const middle = (sizes.length - 1) / 2
    scales[one] = (MAD_TO_SD * ((sizes[Math.floor(middle)] ?? 0) + (sizes[Math.ceil(middle)] ?? 0))) / 2
  }
}

/**
 * Inverse variances, against the class with the most slices. Few slices per cell leave small residuals, so that is allowed for. No class weighs more than that one:
 * a few slices could otherwise pull the effects of their passes to themselves, and look exact.
 */
function weigh({ members, scales }: Layout): number[] {
  const variances = members.map(({ indices, cells }, one) => {
    const degrees = indices.length - cells
    return degrees > 0 ? ((scales[one] ?? 0) ** 2 * indices.length) / degrees : Number.NaN
  })
  const sizes = members.map(({ indices }) => indices.length)
  const reference = variances[sizes.indexOf(Math.max(...sizes))] ?? Number.NaN
  return variances.map((variance) => (reference < variance ? reference / variance : 1))
}

function largestChange(before: Float64Array, after: Float64Array): number {
  let largest = 0
  for (let index = 0; index < after.length; index++)
    largest = Math.max(largest, Math.abs((after[index] ?? 0) - (before[index] ?? 0)))
  return largest
}
