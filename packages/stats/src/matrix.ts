/** The little linear algebra that least squares needs. Matrices are rows of numbers. */

export type Matrix = number[][]

/** A pivot that fell below this part of its first value is zero: its row depends on those before it. */
const SINGULAR = 1e-9

/**
 * A generalised inverse of a symmetric matrix without negative eigenvalues, by Gauss–Jordan elimination that skips rows which depend
 * on earlier ones (the sweep operator: Goodnight 1979, The American Statistician 33:149).
 */
export function generalisedInverse(matrix: Matrix): Matrix {
  const n = matrix.length
  const swept = matrix.map((row) => [...row])
  const used = new Set<number>()
  for (let pivot = 0; pivot < n; pivot++) {
    const diagonal = entry(swept, pivot, pivot)
    if (diagonal <= SINGULAR * entry(matrix, pivot, pivot) || diagonal === 0) continue
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

export function multiply(matrix: Matrix, vector: readonly number[]): number[] {
  return matrix.map((row) => row.reduce((sum, value, j) => sum + value * (vector[j] ?? 0), 0))
}

function entry(matrix: Matrix, i: number, j: number): number {
  return matrix[i]?.[j] ?? 0
}
