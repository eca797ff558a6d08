import * as Plot from '@observablehq/plot'
import { formatMs, formatPercent, orUnknown } from '@startgrid/cli/numbers.ts'
import type { OverloadFigures } from '../../model/figures.ts'
import { nameOf } from '../../model/names.ts'
import type { Measured } from '../openloop-table.ts'
import { chart } from './chart.ts'
import type { Markup } from './markup.ts'
import { seriesOf } from './series.ts'

interface Bar {
  name: string
  framework: string
  value: number
}

/** What is left of each app under twice its capacity, and how soon it is itself again. */
export function overloadCharts(cells: readonly Measured<OverloadFigures>[]): Markup[] {
  const measured = cells.filter(({ figures }) => figures.voidedBecause === null)
  if (measured.length === 0) return []
  const barsOf = (value: (figures: OverloadFigures) => number | null): Bar[] =>
    measured
      .flatMap(({ spec, figures }) => {
        const found = value(figures)
        return found === null ? [] : [{ name: nameOf(spec), framework: spec.framework, value: found }]
      })
      .toSorted((a, b) => a.value - b.value)
  const never = measured
    .filter(({ figures }) => figures.recoverySeconds === null)
    .map(({ spec }) => nameOf(spec))
  return [
    barChart(
      'Goodput, part of the capacity',
      barsOf(({ goodputShare }) => goodputShare).toReversed(),
      formatPercent,
      '',
    ),
    barChart(
      'p99 during the overload, ms',
      barsOf(({ p99Ms }) => p99Ms),
      formatMs,
      '',
    ),
    barChart(
      'Recovery, seconds',
      barsOf(({ recoverySeconds }) => recoverySeconds),
      (seconds) => seconds.toFixed(1),
      never.length === 0 ? '' : ` Not recovered in the time allowed: ${never.join(', ')}.`,
    ),
  ]
}

function barChart(
  title: string,
  bars: readonly Bar[],
  format: (value: number) => string,
  more: string,
): Markup {
  const described = bars.map(({ name, value }) => `${name} ${orUnknown(value, format)}`).join(', ')
  return chart({
    title: `${title}${more === '' ? '' : '.'}${more}`,
    description: described === '' ? 'Void, or not known of any app.' : described,
    plot: {
      height: 40 + 21 * bars.length,
      marginLeft: 84,
      marginRight: 44,
      x: {
        label: null,
        zero: true,
        grid: true,
        ticks: 4,
        tickFormat: (tick) => (tick === 0 ? '0' : format(tick)),
      },
      y: { domain: bars.map(({ name }) => name), label: null, tickSize: 0 },
      marks: [
        ...bars.map((bar) =>
          Plot.barX([bar], { x: 'value', y: 'name', fill: seriesOf(bar.framework).color }),
        ),
        Plot.text(bars, {
          x: 'value',
          y: 'name',
          text: ({ value }: Bar) => format(value),
          textAnchor: 'start',
          dx: 4,
        }),
        Plot.ruleX([0]),
      ],
    },
  })
}
