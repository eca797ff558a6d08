import * as Plot from '@observablehq/plot'
import { formatPercent, formatRatio, orUnknown } from '@startgrid/cli/numbers.ts'
import { type Standing, type StandingEntry, standingsOf } from '../../judge/standings.ts'
import type { CellFigures } from '../../model/figures.ts'
import { nameOf } from '../../model/names.ts'
import type { RaceResult } from '../../model/result.ts'
import { chart, filterable, raceTitle } from './chart.ts'
import { html, type Markup } from './markup.ts'
import { seriesOf } from './series.ts'
import { numberCell, rowHeading, table } from './table.ts'

/** How every app warmed up: its rate after a launch, over its final rate, with what was discarded shaded. */
export function warmup(result: RaceResult): Markup {
  const standings = standingsOf(result)
  return html`${standings.map(
    (standing) => html`<div${filterable(standing)}><h3>${raceTitle(standing)}</h3>
<div class="small-panels">${standing.entries.map((entry) => warmupChart(entry, standing))}</div></div>`,
  )}
<details><summary>The same as a table</summary>${warmupTable(standings)}</details>`
}

type Point = CellFigures['warmup']['points'][number]

function warmupChart({ spec, figures }: StandingEntry, standing: Standing): Markup | null {
  const { points } = figures.warmup
  const [first] = points
  const last = points.at(-1)
  if (first === undefined || last === undefined) return null
  const { color } = seriesOf(spec.framework)
  const end = points.find(({ discarded }) => !discarded)?.at ?? last.at
  return chart({
    title: nameOf(spec),
    description: describe(figures),
    race: standing,
    framework: spec.framework,
    plot: {
      width: 168,
      height: 104,
      marginLeft: 30,
      marginRight: 8,
      marginTop: 8,
      marginBottom: 30,
      x: {
        label: 'ms of load',
        labelAnchor: 'center',
        labelArrow: 'none',
        ticks: 3,
        tickSize: 3,
        domain: [first.at, Math.max(last.at, first.at + 1)],
      },
      y: { domain: [0, 1.25], label: null, ticks: [0, 0.5, 1], tickFormat: String, tickSize: 3, clamp: true },
      marks: [
        Plot.rect([first], { x1: first.at, x2: end, y1: 0, y2: 1.25, fill: 'var(--discarded)' }),
        Plot.ruleY([1], { strokeOpacity: 0.4, strokeDasharray: '2 3' }),
        Plot.line(points, { x: 'at', y: 'rate', stroke: color, strokeWidth: 2 }),
        Plot.dot(points, {
          x: 'at',
          y: 'rate',
          r: 2.2,
          stroke: color,
          fill: ({ discarded }: Point) => (discarded ? 'none' : color),
        }),
      ],
      color: { type: 'identity' },
    },
  })
}

function describe({ warmup: { lengthMs, points, trend } }: CellFigures): string {
  const start = orUnknown(points[0]?.rate, formatRatio)
  return `Starts at ${start} of its final rate; ${lengthMs} ms of load are discarded; change left after that: ${orUnknown(trend, formatPercent)}`
}

function warmupTable(standings: readonly Standing[]): Markup {
  const hasCosts = standings.some(({ races }) => races.cpu !== null)
  const rows = standings.flatMap(({ entries }) =>
    entries.map(({ spec, figures: { warmup } }) => {
      const [first] = warmup.points
      return html`<tr${filterable(spec, spec.framework)}>${rowHeading(`${spec.role} ${nameOf(spec)}`)}<td>${spec.topology}</td>${[
        numberCell(warmup.lengthMs, String(warmup.lengthMs)),
        numberCell(first?.rate, orUnknown(first?.rate, formatRatio)),
        hasCosts && numberCell(first?.cpu, orUnknown(first?.cpu, formatRatio)),
        numberCell(warmup.trend, orUnknown(warmup.trend, formatPercent)),
      ]}</tr>`
    }),
  )
  const right = (text: string) => ({ text, align: 'right' as const, sortable: true })
  return table(
    'Warm-up of every cell',
    [
      { text: 'App', sortable: true },
      { text: 'Via', sortable: true },
      right('Discarded, ms of load'),
      right('First rate, × final'),
      ...(hasCosts ? [right('First CPU per request, × final')] : []),
      right('Change left'),
    ],
    rows,
  )
}
