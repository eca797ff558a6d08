import type { Interval } from '@startgrid/stats/estimate.ts'
import { html, type Markup } from './markup.ts'
import { seriesOf } from './series.ts'
import type { Heading } from './table.ts'

/** An axis that all whiskers of one column share. */
export interface Axis {
  /** Where a value is, 0 (left) to 1 (right); beyond these if it is off the axis. */
  place(value: number): number
  /** The values at its ends. */
  ends: readonly [number, number]
  /** A line at this value. */
  mark: number | null
}

const WIDTH = 132
const HEIGHT = 18
/** For arrows of what is off the axis. */
const PADDING = 7

/** From 0. What is more than four times the median is left off: one slow cell would squeeze all others together. */
export function linearAxis(intervals: readonly (Interval | null)[]): Axis {
  const shown = intervals.flatMap((interval) => interval ?? [])
  const values = shown.map(({ value }) => value).toSorted((a, b) => a - b)
  const limit = 4 * (values[Math.floor(values.length / 2)] ?? 1)
  const ends = shown
    .filter(({ value }) => value <= limit)
    .map(({ value, high }) => Math.min(limit, high ?? value))
  const most = Math.max(...ends, Number.MIN_VALUE)
  return { place: (value) => value / most, ends: [0, most], mark: null }
}

/** Logarithmic, around 1, at most from a quarter to four times. */
export function ratioAxis(intervals: readonly (Interval | null)[]): Axis {
  const ends = intervals.flatMap((interval) =>
    interval === null
      ? []
      : [interval.value, interval.low ?? interval.value, interval.high ?? interval.value],
  )
  const low = Math.max(0.25, Math.min(0.95, ...ends))
  const high = Math.min(4, Math.max(1.05, ...ends))
  return {
    place: (value) => Math.log(value / low) / Math.log(high / low),
    ends: [low, high],
    mark: 1,
  }
}

/** The heading of a column of whiskers: what its axis spans. */
export function whiskerHeading(
  what: string,
  { ends: [low, high] }: Axis,
  format: (end: number) => string,
): Heading {
  return {
    text: html`<span class="vh">${what}, drawn from </span><small class="span"><span>${format(low)}</span><span class="vh"> to </span><span>${format(high)}</span></small>`,
  }
}

export function whiskerCell(interval: Interval | null, axis: Axis, framework: string): Markup {
  return html`<td class="drawn">${whisker(interval, axis, framework)}</td>`
}

/** The estimate as a dot, its interval as a line; an arrow points to where it is off the axis. The figures are text beside it. */
function whisker(interval: Interval | null, axis: Axis, framework: string): Markup | null {
  if (interval === null) return null
  const { color } = seriesOf(framework)
  const mark = axis.mark === null ? 0 : axis.place(axis.mark)
  return html`<svg class="whisker" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true"><path class="mark" d="M${x(mark)} 0V${HEIGHT}"/><g stroke="${color}" fill="${color}">${shapeOf(interval, axis)}</g></svg>`
}

function shapeOf({ value, low, high }: Interval, axis: Axis): Markup {
  const middle = HEIGHT / 2
  const place = axis.place(value)
  if (place > 1) return html`<path d="M${WIDTH - 7} ${middle - 4}l6 4l-6 4z"/>`
  if (place < 0) return html`<path d="M7 ${middle - 4}l-6 4l6 4z"/>`
  const [from, to] = [x(axis.place(low ?? value)), x(axis.place(high ?? value))]
  return html`<path fill="none" stroke-width="2" d="M${from} ${middle}H${to}M${from} ${middle - 4}v8M${to} ${middle - 4}v8"/><circle stroke="none" r="3.5" cx="${x(place)}" cy="${middle}"/>`
}

function x(place: number): string {
  return (PADDING + Math.min(1, Math.max(0, place)) * (WIDTH - 2 * PADDING)).toFixed(1)
}
