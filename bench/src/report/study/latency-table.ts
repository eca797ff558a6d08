import { formatPercent, formatRate } from '@startgrid/cli/numbers.ts'
import { type ItemColumn, left, right, tableOf } from '@startgrid/cli/table.ts'
import { listOf } from '@startgrid/cli/text.ts'
import type { Metric } from '../../model/experiment.ts'
import type { StudyResult } from '../../model/result.ts'
import type { Section } from '../document.ts'
import { type Entry, entriesOf, formatSeconds, isCounted } from './section.ts'

/** Of the races whose latencies are asked for: at one rate for all, and those of the closed loop beside them. */
export function latencySections(result: StudyResult): Section[] {
  return (result.analysis?.openRates ?? []).map(({ race, rate }, index) => {
    const cells = result.cells.filter((cell) => cell.race === race && cell.openLoop && cell.skipped === null)
    const entries = entriesOf(result, cells)
    return {
      title: `${race}: latency in ms at ${formatRate(rate)} requests per second`,
      table: tableOf<Entry>(entries, columnsOf(rate), (entry) => (isVoid(entry) ? 'void' : 'plain')),
      notes: [...(index === 0 ? [WHY_UNLIKE] : []), ...voidNotes(entries)],
    }
  })
}

/** Told once, under the first of them. */
const WHY_UNLIKE =
  'Open loop: requests are due at random times, as many for each system, and wait from then on. Closed loop: each connection waits for its ' +
  'response before it sends the next request, so that its latency is only connections / rate. The load is a part of the rate in closed loop.'

function isVoid({ shown }: Entry): boolean {
  return !isCounted(shown) || (shown.openLoop?.voidedBecause ?? null) !== null
}

function columnsOf(openRate: number): ItemColumn<Entry>[] {
  const latency = (heading: string, metric: Metric, priority = 0) =>
    right<Entry>(heading, priority, (entry) =>
      isVoid(entry) ? '' : formatSeconds(entry.shown?.figures[metric]),
    )
  const closed = (heading: string, metric: Metric, priority = 0) =>
    right<Entry>(heading, priority, ({ shown }) => formatSeconds(shown?.figures[metric]))
  return [
    left('system', 0, ({ cell }) => cell.title),
    right('load', 3, ({ shown }) => {
      const rate = shown?.figures.rate
      return rate === undefined ? '' : formatPercent(openRate / rate.value)
    }),
    right('mean', 0, (entry) =>
      isVoid(entry) ? 'void' : formatSeconds(entry.shown?.figures['mean-latency']),
    ),
    latency('p50', 'median-latency'),
    latency('p90', 'p90-latency'),
    latency('p97.5', 'p97.5-latency', 1),
    latency('p99', 'p99-latency'),
    closed('closed mean', 'closed-mean-latency'),
    closed('closed p99', 'closed-p99-latency', 2),
  ]
}

/** Each reason once. What voids a system itself is said beside its rate. */
function voidNotes(entries: readonly Entry[]): string[] {
  const voided = entries.flatMap(({ cell, shown }) => {
    const reason = shown?.openLoop?.voidedBecause ?? null
    return reason === null || shown?.voided ? [] : [{ title: cell.title, reason }]
  })
  return [...Map.groupBy(voided, ({ reason }) => reason)].map(
    ([reason, group]) => `The latency of ${listOf(group.map(({ title }) => title))} is void: ${reason}.`,
  )
}
