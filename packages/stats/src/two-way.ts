/** Least squares of a two-way layout, value = row + column + error, where values may be missing. */

/** One value per row and column; null where it is missing. */
export type Layout = readonly (readonly (number | null)[])[]

/** An estimate of a variance, and the degrees of freedom it rests on: they may be broken, or infinite. */
export interface Variance {
  variance: number
  df: number
}

export interface TwoWayFit {
  /** What is left of each value without its row and its column; null where it is missing. */
  residuals: (number | null)[][]
  /** Per row, from its own residuals; null where they tell nothing (a row with one value). */
  rows: (Variance | null)[]
  /** The mean square for error of all rows; zero degrees of freedom where it tells nothing. */
  pooled: Variance
  /** Effects of the columns that have values, against an arbitrary level; null where rows have too few columns in common. */
  columns: number[] | null
  /** Row `a` less row `b`; null where no chain of shared columns links the two. */
  contrast(a: number, b: number): Combination | null
}

/** A weighted sum of the values. */
interface Combination {
  estimate: number
  /** Per row, the sum of its squared weights: the variance of the estimate is the sum of loads times variances of rows. */
  loads: number[]
}

/** What least squares leaves of a layout when the columns are swept out. */
interface Reduced {
  layout: Layout
  /** The rows that have a value, per column. */
  columns: number[][]
  matrix: Matrix
  inverse: Matrix
}

/**
 * Fits rows and columns by ordinary least squares through the reduced normal equations of the rows (Searle 1971, Linear Models,
 * section 7.1: the two-way crossed classification without interaction).
 *
 * A row's variance divides its sum of squared residuals by the trace of its block of the residual projection, which is unbiased where
 * all rows vary alike; its degrees of freedom fit the first two moments of that sum (Satterthwaite 1946). With n full rows of k values
 * these are (k − 1)(1 − 1/n) and k − 1.
 */
export function fitTwoWay(layout: Layout): TwoWayFit {
  const reduced = reduce(layout)
  const { residuals, columns } = solve(reduced)
  const squares = residuals.map((row) => sumOf(row.map((value) => (value ?? 0) ** 2)))
  const blocks = layout.map((_, row) => residualBlock(reduced, row))
  const traces = blocks.map((block) => sumOf(block.map((line, h) => line[h] ?? 0)))
  const df = Math.round(sumOf(traces))
  return {
    residuals,
    rows: blocks.map((block, row) => varianceOf(squares[row] ?? 0, traces[row] ?? 0, block)),
    columns,
    pooled: { variance: df === 0 ? 0 : sumOf(squares) / df, df },
    contrast: (a, b) => contrast(reduced, a, b),
  }
}

function reduce(layout: Layout): Reduced {
  const width = Math.max(0, ...layout.map((row) => row.length))
  const columns = Array.from({ length: width }, (_, h) =>
    layout.flatMap((row, c) => (row[h] === null || row[h] === undefined ? [] : [c])),
  )
  const matrix: Matrix = layout.map(() => layout.map(() => 0))
  for (const present of columns)
    for (const a of present)
      for (const b of present) {
        const line = matrix[a] ?? []
        line[b] = (line[b] ?? 0) + (a === b ? 1 : 0) - 1 / present.length
      }
  return { layout, columns, matrix, inverse: generalisedInverse(matrix) }
}

/** Values less the mean of their column, over the rows that the column has; null where one is missing. */
function centred(
  { layout, columns }: Reduced,
  value: (row: number, column: number) => number,
): (number | null)[][] {
  const means = columns.map((present, h) => present.reduce((sum, c) => sum + value(c, h), 0) / present.length)
  return layout.map((row, c) =>
    row.map((given, h) => (given === null ? null : value(c, h) - (means[h] ?? 0))),
  )
}

function solve(reduced: Reduced): Pick<TwoWayFit, 'residuals' | 'columns'> {
  const { layout, columns, inverse } = reduced
  const values = centred(reduced, (c, h) => layout[c]?.[h] ?? 0)
  const effects = multiply(inverse, values.map(sumOf))
  const fitted = centred(reduced, (c) => effects[c] ?? 0)
  const levels = columns.flatMap((present, h) =>
    present.length === 0
      ? []
      : [sumOf(present.map((c) => (layout[c]?.[h] ?? 0) - (effects[c] ?? 0))) / present.length],
  )
  // One row is taken as the level of all: more than one without a pivot, and the layout falls apart.
  const free = layout.filter((row, c) => row.some((value) => value !== null) && inverse[c]?.[c] === 0).length
  return {
    residuals: values.map((row, c) =>
      row.map((value, h) => (value === null ? null : value - (fitted[c]?.[h] ?? 0))),
    ),
    columns: free > 1 ? null : levels,
  }
}

/** The rows and columns of the residual projection that belong to the values of one row of the layout. */
function residualBlock({ layout, columns, inverse }: Reduced, row: number): Matrix {
  const own = columns.filter((_, h) => (layout[row]?.[h] ?? null) !== null)
  const contrasts = own.map((present) => {
    const vector = layout.map((_, c) => (c === row ? 1 : 0) - (present.includes(c) ? 1 / present.length : 0))
    return { present, vector, solved: multiply(inverse, vector) }
  })
  return contrasts.map(({ vector, present }, i) =>
    contrasts.map(({ solved }, j) => (i === j ? 1 - 1 / present.length : 0) - dot(vector, solved)),
  )
}

/** Below this, what should be a count is zero. */
const NOTHING = 1e-9

function varianceOf(square: number, trace: number, block: Matrix): Variance | null {
  if (trace < NOTHING) return null
  const traceOfSquare = sumOf(block.flat().map((value) => value * value))
  return { variance: square / trace, df: trace ** 2 / traceOfSquare }
}

function contrast(reduced: Reduced, a: number, b: number): Combination | null {
  const wanted = reduced.layout.map((_, c) => Number(c === a) - Number(c === b))
  const solved = multiply(reduced.inverse, wanted)
  const reached = multiply(reduced.matrix, solved)
  if (reached.some((value, c) => Math.abs(value - (wanted[c] ?? 0)) > 1e-6)) return null
  const weights = centred(reduced, (c) => solved[c] ?? 0)
  return {
    estimate: sumOf(
      weights.flatMap((row, c) => row.map((weight, h) => (weight ?? 0) * (reduced.layout[c]?.[h] ?? 0))),
    ),
    loads: weights.map((row) => sumOf(row.map((weight) => (weight ?? 0) ** 2))),
  }
}

function dot(a: readonly number[], b: readonly number[]): number {
  return sumOf(a.map((value, index) => value * (b[index] ?? 0)))
}

function sumOf(values: readonly (number | null)[]): number {
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0)
}

/** Rows of numbers. */
type Matrix = number[][]

/** A pivot that fell below this part of its first value is zero: its row depends on those before it. */
const SINGULAR = 1e-9

/**
 * A generalised inverse of a symmetric matrix without negative eigenvalues, by Gauss–Jordan elimination that skips rows which depend
 * on earlier ones (the sweep operator: Goodnight 1979, The American Statistician 33:149).
 */
function generalisedInverse(matrix: Matrix): Matrix {
  const n = matrix.length
  const swept = matrix.map((row) => [...row])
  const used = new Set<number>()
  for (let pivot = 0; pivot < n; pivot++) {
    const diagonal = swept[pivot]?.[pivot] ?? 0
    if (diagonal <= SINGULAR * (matrix[pivot]?.[pivot] ?? 0) || diagonal === 0) continue
    used.add(pivot)
    sweep(swept, pivot)
  }
  return swept.map((row, i) => row.map((value, j) => (used.has(i) && used.has(j) ? value : 0)))
}

/** Goodnight's sweep of one pivot, in place. */
function sweep(matrix: Matrix, pivot: number): void {
  const pivotRow = matrix[pivot] ?? []
  const diagonal = pivotRow[pivot] ?? 0
  for (let j = 0; j < pivotRow.length; j++) pivotRow[j] = (pivotRow[j] ?? 0) / diagonal
  for (const [i, row] of matrix.entries()) {
    if (i === pivot) continue
    const factor = row[pivot] ?? 0
    for (let j = 0; j < row.length; j++) row[j] = (row[j] ?? 0) - factor * (pivotRow[j] ?? 0)
    row[pivot] = -factor / diagonal
  }
  pivotRow[pivot] = 1 / diagonal
}

function multiply(matrix: Matrix, vector: readonly number[]): number[] {
  return matrix.map((row) => dot(row, vector))
}
