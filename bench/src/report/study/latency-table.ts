import { formatPercent, formatRate } from '@startgrid/cli/numbers.ts'
import type { Row } from '@startgrid/cli/table.ts'
import type { Metric } from '../../model/experiment.ts'
import type { StudyFigures } from '../../model/figures.ts'
import type { Cell, StudyResult } from '../../model/result.ts'
import type { Section } from '../document.ts'
import { figure, figuresOf, formatSeconds, name } from './section.ts'

/** Of the races whose latencies are asked for: at one rate for all, and those of the closed loop beside them. */
export function latencySections(result: StudyResult): Section[] {
  return (result.analysis?.openRates ?? []).map(({ race, rate }, index) => {
    const cells = result.cells.filter((cell) => cell.race === race && cell.openLoop && cell.skipped === null)
    const rows = cells.map((cell) => ({ cell, figures: figuresOf(result, cell) }))
    return {
      title: `${race}: latency in ms at ${formatRate(rate)} requests per second`,
      table: {
        columns: [
          name('system'),
          figure('load', 3),
          figure('mean'),
          figure('p50'),
          figure('p90'),
          figure('p97.5', 1),
          figure('p99'),
          figure('closed mean'),
          figure('closed p99', 2),
        ],
        rows: rows.map(({ cell, figures }) => latencyRowOf(cell, figures, rate)),
      },
      notes: [
        ...(index === 0 ? [WHY_UNLIKE] : []),
        ...rows.flatMap(({ cell, figures }) => latencyNoteOf(cell, figures)),
      ],
    }
  })
}

/** Told once, under the first of them. */
const WHY_UNLIKE =
  'Open loop: requests are due at random times, as many for each system, and wait from then on. Closed loop: each connection waits for its ' +
  'response before it sends the next request, so that its latency is only connections / rate. The load is a part of the rate in closed loop.'

function latencyRowOf({ title }: Cell, shown: StudyFigures | undefined, rate: number): Row {
  const figures = shown?.figures ?? {}
  const isVoid = shown === undefined || shown.voided || (shown.openLoop?.voidedBecause ?? null) !== null
  const closed = [formatSeconds(figures['closed-mean-latency']), formatSeconds(figures['closed-p99-latency'])]
  const load = figures.rate === undefined ? '' : formatPercent(rate / figures.rate.value)
  if (isVoid) return { tone: 'void', cells: [title, load, 'void', '', '', '', '', ...closed] }
  const open = LATENCIES.map((metric) => formatSeconds(figures[metric]))
  return { tone: 'plain', cells: [title, load, ...open, ...closed] }
}

const LATENCIES = [
  'mean-latency',
  'median-latency',
  'p90-latency',
  'p97.5-latency',
  'p99-latency',
] as const satisfies readonly Metric[]

/** What voids the system itself is said beside its rate. */
function latencyNoteOf({ title }: Cell, figures: StudyFigures | undefined): string[] {
  const reason = figures?.openLoop?.voidedBecause ?? null
  return reason === null || figures?.voided ? [] : [`The latency of ${title} is void: ${reason}.`]
}
