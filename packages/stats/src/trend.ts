import type { Estimate } from './estimate.ts'

/** One value at a place on the axis, such as a logarithm at a time. */
export interface Point {
  x: number
  y: number
}

/**
 * The slope that groups of points have in common, each with a level of its own (analysis of covariance: the regression within groups).
 * @returns the change of y per unit of x; null where the points leave no degree of freedom, or have all one x
 */
export function commonSlope(groups: readonly (readonly Point[])[]): Estimate | null {
  const centred = groups.flatMap(centre)
  const df = centred.length - groups.filter(({ length }) => length > 0).length - 1
  const spread = centred.reduce((sum, { x }) => sum + x * x, 0)
  if (df < 1 || spread === 0) return null
  const slope = centred.reduce((sum, { x, y }) => sum + x * y, 0) / spread
  const squares = centred.reduce((sum, { x, y }) => sum + (y - slope * x) ** 2, 0)
  return { estimate: slope, standardError: Math.sqrt(squares / df / spread), df }
}

function centre(points: readonly Point[]): Point[] {
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length
  return points.map(({ x, y }) => ({ x: x - meanX, y: y - meanY }))
}
