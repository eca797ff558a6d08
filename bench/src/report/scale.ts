import { median } from '@startgrid/stats/moments.ts'
import type { Chart, Panel } from './document.ts'

/** The axis that the panels of a chart share. */

export interface Scale {
  domain: [number, number]
  ticks: number[]
}

/** What is farther out than this factor beyond all others is not drawn, because it would make them look alike; its figure says more. */
const FARTHEST = 4

export function scaleOf({ panels, axis }: Chart): Scale {
  return axis.scale === 'log' ? ratioScale(panels) : linearScale(panels)
}

/** Around all dots but the farthest, with a round ratio every eighth of it or farther apart. */
function ratioScale(panels: readonly Panel[]): Scale {
  const dots = panels.flatMap((panel) => panel.dots)
  const most = reach(dots.map(({ value }) => value))
  const least = 1 / reach(dots.map(({ value }) => 1 / value))
  const near = dots.filter(({ value }) => value >= least && value <= most)
  const low = Math.min(least, ...near.map(({ low }) => Math.max(least / FARTHEST, low ?? least))) * 0.97
  const high = Math.max(most, ...near.map(({ high }) => Math.min(FARTHEST * most, high ?? most))) * 1.03
  const apart = Math.log(high / low) / 8
  const ticks = ROUND_RATIOS.filter(
    (tick, index) =>
      tick > low &&
      tick < high &&
      ROUND_RATIOS.slice(0, index).every((other) => Math.abs(Math.log(tick / other)) > apart),
  )
  return { domain: [low, high], ticks }
}

/** Those that are wanted most come first. */
const ROUND_RATIOS = [1, 2, 0.5, 4, 0.25, 10, 0.1, 30, 0.03, 100, 0.01, 1.5, 0.7, 3, 0.8, 1.25, 0.9, 1.1]

/** The greatest ratio that is not farther beyond the next smaller one than `FARTHEST`; at least 1.25. */
function reach(values: readonly number[]): number {
  return values
    .toSorted((one, other) => one - other)
    .reduce((end, value) => (value > end * FARTHEST ? end : Math.max(end, value)), 1.25)
}

/** From 0, or from below it. One value that is far off would make all others look alike; an interval is cut only far beyond that. */
function linearScale(panels: readonly Panel[]): Scale {
  const dots = panels.flatMap((panel) => panel.dots)
  const limit = FARTHEST * median(dots.map(({ value }) => Math.abs(value)))
  const near = dots.filter(({ value }) => Math.abs(value) <= limit)
  const least = Math.min(0, ...near.map(({ value, low }) => Math.max(-3 * limit, low ?? value)))
  const most = Math.max(
    Number.MIN_VALUE,
    ...near.map(({ value, high }) => Math.min(3 * limit, high ?? value)),
  )
  const size = most - least
  const step = 10 ** Math.floor(Math.log10(size))
  const width = [0.5, 1, 2, 5].map((part) => part * step).find((one) => size / one <= 4) ?? step
  const first = Math.ceil(least / width)
  const count = Math.floor(most / width) - first + 1
  return {
    domain: [least, most],
    ticks: Array.from({ length: count }, (_, index) => (first + index) * width),
  }
}
