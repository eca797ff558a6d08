import { mean } from './moments.ts'

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
  let effects = new Float64Array(layout.cells + layout.passes)
  let solve = prepare(layout)
  let iterations = 0
  let change = Number.POSITIVE_INFINITY
  do {
    iterations += 1
    const next = solve()
    if (iterations > 1) change = Math.max(...next.map((one, index) => Math.abs(one - (effects[index] ?? 0))))
    effects = next
    measureResiduals(layout, effects)
    if (layout.classes.length > 1) {
      weigh(layout.classes)
      solve = prepare(layout)
    }
    for (const slice of layout.slices) {
      const limit = CLIP * slice.class.scale
      const clipped = Math.max(-limit, Math.min(limit, slice.residual))
      slice.adjusted = slice.value - slice.residual + clipped
    }
  } while (
    change > STABLE * Math.min(...layout.classes.map(({ scale }) => scale)) &&
    iterations < MOST_ITERATIONS
  )
  const seen = new Set(observations.map(({ cell }) => cell))
  return Array.from({ length: layout.cells }, (_, cell) => (seen.has(cell) ? (effects[cell] ?? null) : null))
}

/** An observation that carries information. */
interface Slice {
  cell: number
  /** Null for a cell without pass effects. */
  pass: number | null
  class: Class
  value: number
  /** The value with its residual clipped. */
  adjusted: number
  residual: number
}

interface Class {
  slices: Slice[]
  scale: number
  weight: number
}

interface Layout {
  cells: number
  passes: number
  slices: Slice[]
  classes: Class[]
  /** Cells that are linked by passes, and these passes. The first cell has the level of its group. */
  groups: { cells: number[]; passes: number[] }[]
}

function describe(observations: readonly Observation[], classes: readonly number[]): Layout {
  const cells = Math.max(0, ...observations.map(({ cell }) => cell + 1))
  const passes = Math.max(0, ...observations.map(({ pass }) => pass + 1))
  const cellsOfPass = Array.from({ length: passes }, () => new Set<number>())
  for (const { cell, pass } of observations) cellsOfPass[pass]?.add(cell)
  const groups = link(cells, cellsOfPass)
  const linked = new Set(groups.flatMap((group) => group.cells))
  const most = Math.max(0, ...observations.map(({ cell }) => classes[cell] ?? 0))
  const all = Array.from({ length: most + 1 }, (): Class => ({ slices: [], scale: 0, weight: 1 }))
  const slices: Slice[] = []
  for (const { cell, pass, value } of observations) {
    const isLinked = linked.has(cell)
    if (isLinked && cellsOfPass[pass]?.size === 1) continue
    const own = all[classes[cell] ?? 0] as Class
    const slice = { cell, pass: isLinked ? pass : null, class: own, value, adjusted: value, residual: 0 }
    own.slices.push(slice)
    slices.push(slice)
  }
  return { cells, passes, slices, classes: all, groups }
}

/** Groups of cells that are linked by passes which they share. */
function link(cells: number, cellsOfPass: readonly ReadonlySet<number>[]): Layout['groups'] {
  const lowest = Array.from({ length: cells }, (_, cell) => cell)
  for (const present of cellsOfPass) {
    const joined = new Set([...present].map((cell) => lowest[cell] ?? cell))
    const first = Math.min(...joined)
    for (const [cell, one] of lowest.entries()) if (joined.has(one)) lowest[cell] = first
  }
  const shared = [...cellsOfPass.keys()].filter((pass) => (cellsOfPass[pass]?.size ?? 0) > 1)
  return [...Map.groupBy(lowest.keys(), (cell) => lowest[cell] ?? cell).values()]
    .filter((group) => group.length > 1)
    .map((group) => ({
      cells: group,
      passes: shared.filter((pass) => group.some((cell) => cellsOfPass[pass]?.has(cell))),
    }))
}

function add(sums: Float64Array, index: number, value: number): void {
  sums[index] = (sums[index] ?? 0) + value
}

/** Weighted least squares: passes are eliminated, and the normal equations of the cells are factored once (Cholesky). */
function prepare({ cells, passes, slices, groups }: Layout): () => Float64Array<ArrayBuffer> {
  const cellWeight = new Float64Array(cells)
  const passWeight = new Float64Array(passes)
  const shared = new Float64Array(cells * passes)
  for (const { cell, pass, class: own } of slices) {
    add(cellWeight, cell, own.weight)
    if (pass === null) continue
    add(passWeight, pass, own.weight)
    add(shared, cell * passes + pass, own.weight)
  }
  const levels = new Set(groups.map((group) => group.cells[0]))
  const isFree = (cell: number) => (cellWeight[cell] ?? 0) > 0 && !levels.has(cell)
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
  return () => {
    const effects = new Float64Array(cells + passes)
    const ofCells = effects.subarray(0, cells)
    const passSum = new Float64Array(passes)
    for (const { pass, adjusted, class: own } of slices)
      if (pass !== null) add(passSum, pass, own.weight * adjusted)
    for (const { cell, pass, adjusted, class: own } of slices) {
      if (!isFree(cell)) continue
      const level = pass === null ? 0 : (passSum[pass] ?? 0) / (passWeight[pass] ?? 1)
      add(ofCells, cell, own.weight * (adjusted - level))
    }
    solveInPlace(factor, ofCells, cells)
    for (const { cell, pass, adjusted, class: own } of slices)
      if (pass !== null)
        add(effects, cells + pass, (own.weight / (passWeight[pass] ?? 1)) * (adjusted - (ofCells[cell] ?? 0)))
    // The pass effects of every group get mean 0, and its cells the level.
    for (const group of groups) {
      const level = mean(group.passes.map((pass) => effects[cells + pass] ?? 0))
      for (const pass of group.passes) add(effects, cells + pass, -level)
      for (const cell of group.cells) add(effects, cell, level)
    }
    return effects
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

function measureResiduals({ cells, slices, classes }: Layout, effects: Float64Array): void {
  for (const slice of slices) {
    const { cell, pass, value } = slice
    slice.residual = value - ((effects[cell] ?? 0) + (pass === null ? 0 : (effects[cells + pass] ?? 0)))
  }
  for (const one of classes) {
    const sizes = Float64Array.from(one.slices, ({ residual }) => Math.abs(residual)).sort()
    const middle = (sizes.length - 1) / 2
    one.scale = (MAD_TO_SD * ((sizes[Math.floor(middle)] ?? 0) + (sizes[Math.ceil(middle)] ?? 0))) / 2
  }
}

/**
 * Inverse variances, against the class with the most slices. Few slices per cell leave small residuals, so that is allowed for. No class weighs more than that one:
 * a few slices could otherwise pull the effects of their passes to themselves, and look exact.
 */
function weigh(classes: readonly Class[]): void {
  const varianceOf = ({ slices, scale }: Class) => {
    const degrees = slices.length - new Set(slices.map(({ cell }) => cell)).size
    return degrees > 0 ? (scale ** 2 * slices.length) / degrees : Number.NaN
  }
  const [most] = classes.toSorted((one, other) => other.slices.length - one.slices.length)
  const reference = most === undefined ? Number.NaN : varianceOf(most)
  for (const one of classes) {
    const variance = varianceOf(one)
    one.weight = reference < variance ? reference / variance : 1
  }
}
