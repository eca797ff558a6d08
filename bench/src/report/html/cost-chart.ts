import * as Plot from '@observablehq/plot'
import { formatMicros, formatParts } from '@startgrid/cli/numbers.ts'
import { type Standing, standingsOf } from '../../judge/standings.ts'
import { nameOf } from '../../model/names.ts'
import type { RaceResult } from '../../model/result.ts'
import { chart, raceTitle } from './chart.ts'
import type { Markup } from './markup.ts'
import { seriesOf } from './series.ts'

/** What one request costs: CPU time of the app and, stacked on it, of the proxy. Races of one role have one axis. */
export function costCharts(result: RaceResult): Markup[] {
  const groups = Map.groupBy(standingsOf(result), ({ role }) => role)
  return [...groups.values()].flatMap((standings) => {
    const bars = standings.map((standing) => ({ standing, bars: barsOf(standing) }))
    const limit = limitOf(bars.flatMap((one) => one.bars))
    return bars.filter((one) => one.bars.length > 0).map((one) => costChart(one.standing, one.bars, limit))
  })
}

interface Bar {
  name: string
  framework: string
  /** Microseconds. */
  app: number
  proxy: number
}

function barsOf({ entries }: Standing): Bar[] {
  return entries
    .flatMap(({ spec, figures: { voided, cpuParts } }) =>
      voided || cpuParts.app === null
        ? []
        : [
            {
              name: nameOf(spec),
              framework: spec.framework,
              app: cpuParts.app * 1e6,
              proxy: (cpuParts.proxy ?? 0) * 1e6,
            },
          ],
    )
    .toSorted((a, b) => totalOf(a) - totalOf(b))
}

function totalOf({ app, proxy }: Bar): number {
  return app + proxy
}

/** An app that costs four times the median would make all others look alike: its bar is cut, its figure is not. */
function limitOf(bars: readonly Bar[]): number {
  const totals = bars.map(totalOf).toSorted((a, b) => a - b)
  const cut = 4 * (totals[Math.floor(totals.length / 2)] ?? 1)
  return Math.max(...totals.filter((total) => total <= cut))
}

function costChart(standing: Standing, bars: readonly Bar[], limit: number): Markup {
  const described = bars.map((bar) => `${bar.name} ${textOf(bar)}`).join(', ')
  return chart({
    title: raceTitle(standing),
    description: `CPU microseconds per request, ${standing.topology === 'direct' ? 'of the app' : 'app+proxy'}: ${described}`,
    race: standing,
    plot: {
      height: 40 + 21 * bars.length,
      marginLeft: 84,
      marginRight: 66,
      x: {
        domain: [0, limit],
        label: 'CPU µs per request',
        labelAnchor: 'center',
        labelArrow: 'none',
        grid: true,
        ticks: 4,
      },
      y: { domain: bars.map(({ name }) => name), label: null, tickSize: 0 },
      marks: [...bars.flatMap((bar) => barMarks(bar, limit)), Plot.ruleX([0])],
    },
  })
}

function barMarks(bar: Bar, limit: number): Plot.Markish[] {
  const total = totalOf(bar)
  const app = Math.min(bar.app, limit)
  const end = Math.min(total, limit)
  const label = total > limit ? `▸ ${textOf(bar)}` : textOf(bar)
  return [
    Plot.barX([bar], { x1: 0, x2: app, y: 'name', fill: seriesOf(bar.framework).color }),
    ...(end > app ? [Plot.barX([bar], { x1: app, x2: end, y: 'name', fill: 'var(--proxy)' })] : []),
    Plot.text([bar], { x: end, y: 'name', text: () => label, textAnchor: 'start', dx: 4 }),
  ]
}

function textOf({ app, proxy }: Bar): string {
  return formatParts({ app: app / 1e6, proxy: proxy / 1e6 }, formatMicros)
}
