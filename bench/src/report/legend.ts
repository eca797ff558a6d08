import type { Result } from '../results.ts'

/** What every report says of a kind of result. */

const RACE_LEGEND =
  '95 %: confidence interval over launches. CPU µs: of server and proxy, per request. rank: as a range where others could not be told ' +
  'apart. ×: ratio to the named app, within heats.'

export const KIND_TITLES: Readonly<Record<Result['kind'], string>> = {
  rate: 'Race',
  selfcheck: 'Selfcheck',
  capacity: 'Capacity',
  latency: 'Latency',
  overload: 'Overload',
}

/** What the headings mean. */
export const LEGENDS: Readonly<Record<Result['kind'], string>> = {
  rate: RACE_LEGEND,
  selfcheck: `${RACE_LEGEND} All names are the same app: every difference is false.`,
  capacity:
    'capacity: highest open-loop rate that kept the bound without an error; confirmed: on fresh launches.',
  latency:
    'load: part of the capacity of the cell, or common: one rate for all. A percentile is printed with 100 answers beyond it over 3 ' +
    'launches, and withheld (—) where the generator was late.',
  overload:
    'goodput: right answers within the timeout, per second. recovery: until p99 at half the capacity is back within twice its level.',
}
