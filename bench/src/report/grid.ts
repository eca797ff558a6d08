import { formatTimestamp } from '@startgrid/cli/numbers.ts'
import type { Result } from '../model/result.ts'
import { type Document, warningsOf } from './document.ts'
import { describeReach, describeSettings, provenanceOf } from './provenance.ts'
import { raceChart, raceSections } from './race.ts'
import { describeFailures, describeSkipped, findingOf, summarise } from './summary.ts'

/** What a result of the grid says. */
export function documentOf(result: Result): Document {
  const { startedAt, command } = result
  const chart = raceChart(result)
  const missing = [...describeSkipped(result), ...describeFailures(result)]
  return {
    finding: findingOf(result),
    subject: `Race of native processes, ${formatTimestamp(startedAt)}, ${describeSettings(result)}`,
    warnings: warningsOf(result),
    ...(chart !== undefined && { chart }),
    summary: summarise(result),
    sections: [
      ...raceSections(result),
      ...(missing.length === 0 ? [] : [{ title: 'What has no figures', notes: missing }]),
      { title: 'How to read it', notes: legendOf(result), place: 'folded' },
      { title: 'Where it comes from', notes: provenanceOf(result), place: 'folded' },
    ],
    command,
  }
}

/** What the headings mean, and how far the figures reach. */
function legendOf(result: Result): string[] {
  const reach = describeReach(result)
  const hasCosts = result.analysis?.cells.some(({ figures }) => figures.cpu !== undefined) ?? true
  return [
    ...(reach === null ? [] : [reach]),
    `${RACE_LEGEND}${hasCosts ? ' CPU µs: of server and proxy, per request.' : ''}`,
    AS_MEASURED,
    'A number is void if a response was wrong, a request failed, or the server was not the limit.',
    CARRIES_OVER,
  ]
}

const RACE_LEGEND =
  '×: ratio to the named app, within heats. 95 %: confidence interval over launches, which misses 1 in 20 times. rank: a range if apps could ' +
  'not be told apart; it compares all pairs, so overlapping intervals prove no tie.'

/** What differs from an app in production. */
const AS_MEASURED =
  'Apps log no requests and shed no load, unlike in production. The rate of a closed loop says how much work an app can do, not how fast it responds: ' +
  'that is `pnpm bench --latency`.'

const CARRIES_OVER = 'Rates and ratios are those of this machine, and differ on another one.'
