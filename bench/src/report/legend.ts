import { formatTimestamp } from '@startgrid/cli/numbers.ts'
import { describeServers } from '../model/names.ts'
import { isRace, type Result } from '../model/result.ts'

/** What every report says of a kind of result, and of how its servers ran. */

const KIND_TITLES: Readonly<Record<Result['kind'], string>> = {
  rate: 'Race',
  capacity: 'Capacity',
  latency: 'Latency',
  overload: 'Overload',
}

/** What was measured, of what, and when: `Race of native processes, 2026-11-20 10:00 UTC`. The mode stands where it is read first. */
export function titleOf(result: Pick<Result, 'kind' | 'mode' | 'target' | 'cluster' | 'startedAt'>): string {
  const { kind, mode, startedAt } = result
  const what = mode === 'target' && kind === 'rate' ? 'Rate' : KIND_TITLES[kind]
  return `${what} of ${describeServers(result)}, ${formatTimestamp(startedAt)}`
}

/** What the headings mean. */
export function legendOf(result: Result): string {
  const { mode } = result
  if (!isRace(result))
    return `${OPEN_LOOP_LEGENDS[result.kind]}${mode === 'target' ? ' Launches: stretches of the only one there was.' : ''}`
  if (mode === 'target') return TARGET_LEGEND
  const { analysis, cells } = result
  const hasCosts = analysis === null || analysis.cells.some(({ cpu }) => cpu !== null)
  const costs = hasCosts ? ' CPU µs: of server and proxy, per request.' : ''
  return `95 %: confidence interval over launches.${costs} ${RANK_LEGEND} ${AS_MEASURED}${describeEngines(cells)}`
}

/** The engines of njs run at very different speeds. */
function describeEngines(cells: Result['cells']): string {
  const engines = new Set(cells.flatMap(({ engine }) => engine?.split(' ', 1)[0] ?? []))
  const named = [...engines].flatMap((engine) => {
    if (engine === 'njs') return 'njs (njs): on its own interpreter, the slower of its two engines.'
    return engine === 'qjs' ? 'njs (qjs): on QuickJS, the faster of its two engines.' : []
  })
  return named.map((sentence) => ` ${sentence}`).join('')
}

const RANK_LEGEND = 'rank: a range if apps could not be told apart. ×: ratio to the named app, within heats.'

/** What differs from an app in production. */
const AS_MEASURED = 'Apps log no requests and shed no load, unlike in production.'

const TARGET_LEGEND =
  '95 %: confidence interval over heats of one launch. mean ms: from a request to the last byte of its response, with a request always under ' +
  'way on every connection (closed loop); it restates the rate, and says little about latency at a fixed one.'

const OPEN_LOOP_LEGENDS = {
  capacity:
    'capacity: highest open-loop rate that kept the bound without an error; confirmed: on fresh launches.',
  latency:
    'load: part of the capacity of the cell, or common: one rate for all. A percentile is printed with 100 responses beyond it over 3 ' +
    'launches, and withheld (—) where the generator was late.',
  overload:
    'goodput: right responses within the timeout, per second. recovery: until p99 at half the capacity is back within twice its level.',
} as const
