/** Numbers as people read them: every report writes the same number the same way. */

/** An estimate with the ends of its interval. The ends are null if there is no interval. */
interface Interval {
  value: number
  low: number | null
  high: number | null
}

/** Shown if the system does not report a value, or if there are too few launches for one. */
export const UNKNOWN = '—'

/** `20,469`; below 100 with a digit after the point. */
export function formatRate(perSecond: number): string {
  return perSecond < 100 ? perSecond.toFixed(1) : Math.round(perSecond).toLocaleString('en-US')
}

/** About three significant digits: `1.48`, `16.5`, `412`, `17.6k`. */
export function formatShort(value: number): string {
  if (value >= 10_000) return `${formatShort(value / 1000)}k`
  if (value >= 99.95) return String(Math.round(value))
  return value.toFixed(value >= 9.995 ? 1 : 2)
}

/** Seconds as microseconds, without the unit: `16.5`. */
export function formatMicros(seconds: number): string {
  return formatShort(seconds * 1e6)
}

/** Seconds with their unit, for a sentence: `16.5 µs`, `10.2 ms`. */
export function formatCost(seconds: number): string {
  return seconds < 1e-3 ? `${formatMicros(seconds)} µs` : `${formatShort(seconds * 1e3)} ms`
}

/** Bytes as units of 10^6, without the unit: `107`. */
export function formatMegabytes(bytes: number): string {
  return String(Math.round(bytes / 1e6))
}

/** Milliseconds, without the unit: `0.412`, `12.3`, `1,204`. */
export function formatMs(ms: number): string {
  if (ms >= 100) return Math.round(ms).toLocaleString('en-US')
  return ms >= 1 ? formatShort(ms) : ms.toFixed(3)
}

/** `0.90`, or `0.012` if two digits are too few. */
export function formatRatio(ratio: number): string {
  return ratio.toFixed(ratio < 0.0995 ? 3 : 2)
}

/** A part of 1: `0.4 %`, `12 %`. */
export function formatPercent(part: number): string {
  const percent = part * 100
  return `${percent.toFixed(Math.abs(percent) < 9.95 ? 1 : 0)} %`
}

/** How far a ratio is from 1, without the sign: 0.93 is `7.0 %`. */
export function formatDistance(ratio: number): string {
  return formatPercent(Math.abs(ratio - 1))
}

/** A part of the speed of another, in words: `3.0 % slower`. */
export function formatSpeed(part: number): string {
  return `${formatDistance(part)} ${part < 1 ? 'slower' : 'faster'}`
}

/**
 * The ends of an interval: `0.85–0.95`. With few launches that disagree, an interval can span orders of magnitude. Then its ends are
 * useless, and this returns `too wide`.
 */
export function formatEnds(interval: Interval | null, format: (end: number) => string): string {
  if (interval === null || interval.low === null || interval.high === null) return UNKNOWN
  if (interval.high > 10 * interval.low) return 'too wide'
  return `${format(interval.low)}–${format(interval.high)}`
}

/** Like `formatEnds`, but with thousands written once: `9.8–12.3k`. */
export function formatRateEnds(interval: Interval | null): string {
  if ((interval?.high ?? 0) < 10_000) return formatEnds(interval, formatRate)
  const ends = formatEnds(interval, (rate) => formatShort(rate / 1000))
  return ends.includes('–') ? `${ends}k` : ends
}

/** `1.48 (1.43–1.53)`, for a sentence; only the value if there is no interval. */
export function formatRatioInterval(ratio: Interval): string {
  const ends = formatEnds(ratio, formatRatio)
  return ends === UNKNOWN ? formatRatio(ratio.value) : `${formatRatio(ratio.value)} (${ends})`
}

/** `14.0+20.7`: app and proxy; one number if there is no proxy. */
export function formatParts(
  { app, proxy }: { app: number | null; proxy: number | null },
  format: (value: number) => string,
): string {
  if (app === null) return UNKNOWN
  return proxy === null || proxy === 0 ? format(app) : `${format(app)}+${format(proxy)}`
}

/** `1`, or `2–4` for a tie. */
export function formatRank({ from, to }: { from: number; to: number }): string {
  return from === to ? String(from) : `${from}–${to}`
}

/** Formats a value that may be unknown. */
export function orUnknown<Value>(value: Value | null | undefined, format: (value: Value) => string): string {
  return value === null || value === undefined ? UNKNOWN : format(value)
}

/** `2026-11-20 10:00 UTC` */
export function formatTimestamp(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`
}

/** Milliseconds as minutes and seconds: `3:05`. */
export function formatMinutes(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
