import { formatEnds } from '@startgrid/cli/numbers.ts'
import { type Chart, type Dot, type Panel, partAlong, type Scale, scaleOf } from '../chart.ts'
import { html, type Markup } from './markup.ts'

/** A chart as figures that need no script. */

const GREY = 'var(--dot)'
const ACCENT = 'var(--accent)'

export function drawChart(chart: Chart): Markup {
  const { title, caption, columns, panels } = chart
  const scale = scaleOf(chart)
  return html`<div role="group" aria-label="${title}">
<p class="caption"><b>${title}.</b> ${caption}</p>
<div class="panels columns-${columns}">${panels.map((panel) => drawPanel(panel, chart, scale))}</div>
</div>`
}

/** Pixels of a panel, whose width is that of a phone: above the plot, of a row, below, for names on the left and for figures on the right. */
const [TOP, ROW, BELOW, NAMES, FIGURES] = [4, 21, 34, 84, 62]
const WIDTH = 360

function drawPanel({ title, dots }: Panel, chart: Chart, scale: Scale): Markup {
  const { axis, mark } = chart
  // A letter is about 6 pixels wide.
  const left = Math.max(NAMES, 10 + 6 * Math.max(0, ...dots.map(({ name }) => name.length)))
  const width = WIDTH + left - NAMES
  const right = width - FIGURES
  const bottom = TOP + ROW * dots.length
  const place = (value: number) => (left + partAlong(value, chart, scale) * (right - left)).toFixed(1)
  const upright = (value: number, opacity: number) =>
    html`<line x1="${place(value)}" x2="${place(value)}" y1="${TOP}" y2="${bottom}" stroke="currentColor" stroke-opacity="${opacity}"/>`
  // For people who cannot see it, the figures.
  const told = `${title}. ${axis.label}: ${dots.map((dot) => describeDot(dot, axis.format)).join(', ')}`
  return html`<figure class="chart">
<figcaption>${title}</figcaption>
<svg class="plot" role="img" aria-label="${told}" viewBox="0 0 ${width} ${bottom + BELOW}">
${scale.ticks.map((tick) => html`${upright(tick, 0.1)}<text class="middle" x="${place(tick)}" y="${bottom + 16}">${tick === 0 ? '0' : axis.format(tick)}</text>`)}
<text class="middle" x="${(left + right) / 2}" y="${bottom + BELOW - 3}">${axis.label}</text>
${mark !== undefined && upright(mark, 0.6)}
${dots.map((dot, row) => {
  const y = TOP + ROW * (row + 0.5)
  return html`<text class="end" x="${left - 9}" y="${y + 3}">${dot.name}</text>${drawDot(dot, scale, y, place, { left, right })}<text class="end" x="${right + 38}" y="${y + 3}">${axis.format(dot.value)}</text>
`
})}</svg>
</figure>`
}

/** A dot on its interval; an arrow points to one that is beyond the axis. */
function drawDot(
  { value, low, high, leads }: Dot,
  { domain: [least, most] }: Scale,
  y: number,
  place: (value: number) => string,
  ends: { left: number; right: number },
): Markup {
  const color = leads ? ACCENT : GREY
  if (value < least) return html`<text x="${ends.left}" y="${y + 3}" fill="${color}">◂</text>`
  if (value > most) return html`<text class="end" x="${ends.right}" y="${y + 3}" fill="${color}">▸</text>`
  const interval =
    low !== null &&
    high !== null &&
    html`<line x1="${place(low)}" x2="${place(high)}" y1="${y}" y2="${y}" stroke="${color}" stroke-width="2"/>`
  return html`${interval}<circle cx="${place(value)}" cy="${y}" r="4.5" fill="${color}"/>`
}

function describeDot(dot: Dot, format: (value: number) => string): string {
  const interval = dot.low === null ? '' : ` (${formatEnds(dot, format)})`
  return `${dot.name} ${format(dot.value)}${interval}`
}
