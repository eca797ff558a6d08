import * as Plot from '@observablehq/plot'
import { formatMs, formatRate, formatShort, orUnknown } from '@startgrid/cli/numbers.ts'
import type { CapacityFigures } from '../../model/figures.ts'
import { nameOf } from '../../model/names.ts'
import type { Measured } from '../openloop-table.ts'
import { chart, filterable, raceTitle } from './chart.ts'
import { html, type Markup } from './markup.ts'
import { seriesOf } from './series.ts'
import { figures, numberCell, rowHeading, table } from './table.ts'

type Cell = Measured<CapacityFigures>
type Step = CapacityFigures['steps'][number] & { index: number }

/** The staircase of every cell: the rates that were tried, and which of them kept the bound. */
export function capacityCharts(cells: readonly Cell[], p99Ms: number | null): Markup[] {
  return cells.filter(({ figures }) => figures.steps.length > 0).map((cell) => staircase(cell, p99Ms))
}

function staircase({ spec, figures }: Cell, p99Ms: number | null): Markup {
  const { color } = seriesOf(spec.framework)
  const steps = figures.steps.map((step, index) => ({ ...step, index: index + 1 }))
  const [kept, broken] = [steps.filter(({ kept }) => kept), steps.filter(({ kept }) => !kept)]
  const band = figures.rate
  return chart({
    title: nameOf(spec),
    description: describe(figures, p99Ms),
    race: spec,
    framework: spec.framework,
    plot: {
      height: 170,
      x: { label: 'step', labelAnchor: 'center', labelArrow: 'none', ticks: 5, tickFormat: String },
      y: { label: 'req/s', labelArrow: 'none', zero: true, ticks: 4, tickFormat: formatTick, grid: true },
      marks: [
        ...(band === null
          ? []
          : [
              Plot.rect([band], {
                y1: band.low ?? band.value,
                y2: band.high ?? band.value,
                fill: color,
                fillOpacity: 0.2,
              }),
              Plot.ruleY([band.value], { stroke: color, strokeWidth: 1.5 }),
            ]),
        Plot.line(steps, { x: 'index', y: 'rate', curve: 'step', strokeOpacity: 0.45 }),
        Plot.dot(kept, { x: 'index', y: 'rate', r: 3.5, fill: color }),
        Plot.dot(broken, {
          x: 'index',
          y: 'rate',
          r: 3.5,
          symbol: 'times',
          stroke: 'var(--bad)',
          strokeWidth: 2,
        }),
        launchMarks(steps),
      ],
    },
  })
}

/** A line where a fresh launch begins. */
function launchMarks(steps: readonly Step[]): Plot.Markish {
  const first = steps.filter(({ launch, index }) => index > 1 && steps[index - 2]?.launch !== launch)
  return Plot.ruleX(first, {
    x: ({ index }: Step) => index - 0.5,
    strokeDasharray: '2 3',
    strokeOpacity: 0.5,
  })
}

function formatTick(rate: number): string {
  return rate === 0 ? '0' : formatShort(rate)
}

function describe(
  { rate, confirmed, tried, steps, voidedBecause }: CapacityFigures,
  p99Ms: number | null,
): string {
  if (voidedBecause !== null) return `Void: ${voidedBecause}`
  return (
    `${orUnknown(rate?.value, formatRate)} requests per second kept p99 within ${p99Ms} ms, after ${steps.length} steps; ` +
    `confirmed on ${confirmed} of ${tried} launches`
  )
}

export function stepsTable(cells: readonly Cell[]): Markup {
  const rows = cells.flatMap(({ spec, figures }) =>
    figures.steps.map(
      ({ launch, rate, p99Ms, kept, reason }) =>
        html`<tr${filterable(spec, spec.framework)}>${rowHeading(nameOf(spec))}${[
          numberCell(launch, String(launch)),
          numberCell(rate, formatRate(rate)),
          numberCell(p99Ms, orUnknown(p99Ms, formatMs)),
        ]}<td>${kept ? '✓ kept' : `✗ ${reason ?? 'broken'}`}</td></tr>`,
    ),
  )
  const [first] = cells
  return table(
    `Steps of the staircases of ${first === undefined ? 'no cell' : raceTitle(first.spec)}`,
    [
      { text: 'Framework', sortable: true },
      figures('Launch'),
      figures('req/s'),
      figures('p99 ms'),
      { text: 'Bound' },
    ],
    rows,
    'tall',
  )
}
