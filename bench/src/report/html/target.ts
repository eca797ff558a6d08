import * as Plot from '@observablehq/plot'
import { formatRate, formatRateEnds, formatShort } from '@startgrid/cli/numbers.ts'
import { isQuiet } from '../../judge/analysis/slices.ts'
import type { RaceResult, Slice } from '../../model/result.ts'
import type { Section } from '../section.ts'
import { sectionsOf } from '../sections.ts'
import { chart } from './chart.ts'
import { html, type Markup, prose } from './markup.ts'
import { plainTable } from './plain-table.ts'

/** A server that already ran: its table, what must be said about it, and how its rate went on. */
export function target(result: RaceResult): Markup {
  return html`${sectionsOf(result).map((section) => figures(section, result))}`
}

function figures({ title, table, notes }: Section, result: RaceResult): Markup {
  return html`<article>
<h3>${title}</h3>
${plainTable(title, table, result.cells)}
${notes.length > 0 && html`<ul class="notes">${notes.map((note) => html`<li>${prose(note)}</li>`)}</ul>`}
<div class="panels">${rateChart(result)}</div>
</article>`
}

interface Point {
  /** Seconds since the first heat began. */
  at: number
  rate: number
  used: boolean
}

/** Slice by slice: a rate that climbs, falls or jumps is not one number. */
function rateChart(result: RaceResult): Markup | null {
  const points = pointsOf(result)
  const rate = result.analysis?.cells[0]?.rate ?? null
  if (points.length === 0) return null
  const [used, others] = [points.filter((point) => point.used), points.filter((point) => !point.used)]
  const rates = used.map((point) => point.rate)
  const range =
    rates.length === 0
      ? 'none counts'
      : `from ${formatRate(Math.min(...rates))} to ${formatRate(Math.max(...rates))} req/s`
  const mean = rate === null ? '' : `; mean ${formatRate(rate.value)}, 95 % interval ${formatRateEnds(rate)}`
  return chart({
    title: 'Slice by slice, with mean and 95 % interval',
    description: `${used.length} slices, ${range}${mean}`,
    plot: {
      height: 190,
      inset: 6,
      x: { label: 'seconds', labelAnchor: 'center', labelArrow: 'none', ticks: 6 },
      y: { label: 'req/s', labelArrow: 'none', ticks: 4, tickFormat: formatShort, grid: true },
      marks: [
        ...(rate === null ? [] : bandMarks(rate)),
        Plot.dot(used, { x: 'at', y: 'rate', r: 3, fill: COLOR }),
        Plot.dot(others, { x: 'at', y: 'rate', r: 3, symbol: 'times', stroke: 'var(--bad)', strokeWidth: 2 }),
      ],
    },
  })
}

const COLOR = 'var(--series-0)'

function bandMarks({
  value,
  low,
  high,
}: {
  value: number
  low: number | null
  high: number | null
}): Plot.Markish[] {
  const band = { y1: low ?? value, y2: high ?? value }
  return [
    Plot.rect([band], { ...band, fill: COLOR, fillOpacity: 0.2 }),
    Plot.ruleY([value], { stroke: COLOR, strokeWidth: 1.5 }),
  ]
}

function pointsOf({ heats }: RaceResult): Point[] {
  const [first] = heats
  return heats.flatMap(({ startedAt, slices }) => {
    const began = (Date.parse(startedAt) - Date.parse(first?.startedAt ?? startedAt)) / 1000
    const measured = slices.filter(({ phase }: Slice) => phase === 'measure')
    return measured.map((slice) => ({
      at: began + slice.at,
      rate: slice.requests / slice.seconds,
      used: isQuiet(slice),
    }))
  })
}
