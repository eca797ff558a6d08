import * as Plot from '@observablehq/plot'
import { formatEnds } from '@startgrid/cli/numbers.ts'
import { parseHTML } from 'linkedom'
import { type Chart, type Dot, type Panel, type Scale, scaleOf } from '../chart.ts'
import { html, type Markup, trusted } from './markup.ts'

/** What Observable Plot draws, as a figure that needs no script. */

const { document } = parseHTML('<!doctype html><html><body></body></html>')

/**
 * What Plot draws, without its own style sheet (the page's policy would refuse it), without labels inside an image, and with coordinates
 * to a tenth of a pixel.
 */
function tidy(svg: string): string {
  return svg
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<[^>]+>/g, (tag) =>
      tag
        .replace(/ aria-(label|hidden)="[^"]*"/g, '')
        .replace(/-?\d+\.\d{2,}/g, (number) => String(Number(Number(number).toFixed(1)))),
    )
}

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

/** Room for names; the widths of a panel are those of a phone. */
const NAMES = 84

function drawPanel(panel: Panel, { axis, mark }: Chart, scale: Scale): Markup {
  const { title, ties = [] } = panel
  const names = panel.dots.map(({ name }) => name)
  // Two steps may have one name.
  const dots = panel.dots.map((dot, row) => ({ ...dot, row }))
  // A letter is about 6 pixels wide.
  const marginLeft = Math.max(NAMES, 10 + 6 * Math.max(0, ...names.map(({ length }) => length)))
  const plot = Plot.plot({
    className: 'plot',
    document,
    width: 360 + marginLeft - NAMES,
    height: 38 + 21 * names.length,
    marginTop: 4,
    marginLeft,
    marginRight: 62,
    marginBottom: 34,
    x: {
      type: axis.scale,
      label: axis.label,
      labelAnchor: 'center',
      labelArrow: 'none',
      grid: true,
      clamp: true,
      domain: scale.domain,
      ticks: scale.ticks,
      tickFormat: (tick: number) => (tick === 0 ? '0' : axis.format(tick)),
    },
    y: {
      type: 'point',
      domain: dots.map(({ row }) => row),
      label: null,
      tickSize: 0,
      tickFormat: (row: number) => names[row] ?? '',
    },
    marks: [
      ...(mark === undefined ? [] : [Plot.ruleX([mark], { strokeOpacity: 0.6 })]),
      ...dots.flatMap((dot) => marksOf(dot, scale)),
      valueTexts(dots, axis.format),
      ...brackets(ties.map((tie) => tie.map((name) => names.indexOf(name)))),
    ],
  })
  // For people who cannot see it, the figures.
  const told = `${title}. ${axis.label}: ${dots.map((dot) => describeDot(dot, axis.format)).join(', ')}`
  const name = html`role="img" aria-label="${told}"`
  return html`<figure class="chart">
<figcaption>${title}</figcaption>
${trusted(tidy(String(plot)).replace('<svg ', `<svg ${name} `))}
</figure>`
}

function describeDot(dot: Dot, format: (value: number) => string): string {
  const interval = dot.low === null ? '' : ` (${formatEnds(dot, format)})`
  return `${dot.name} ${format(dot.value)}${interval}`
}

function marksOf(dot: Dot & { row: number }, { domain: [least, most] }: Scale): Plot.Markish[] {
  const color = dot.leads ? ACCENT : GREY
  if (dot.value > most || dot.value < least) {
    const isLow = dot.value < least
    const arrow = { frameAnchor: isLow ? 'left' : 'right', text: () => (isLow ? '◂' : '▸') } as const
    return [Plot.text([dot], { y: 'row', fill: color, ...arrow })]
  }
  const ends =
    dot.low === null
      ? []
      : [Plot.ruleY([dot], { x1: 'low', x2: 'high', y: 'row', stroke: color, strokeWidth: 2 })]
  return [...ends, Plot.dot([dot], { x: 'value', y: 'row', fill: color, r: 4.5 })]
}

function valueTexts(dots: readonly Dot[], format: (value: number) => string): Plot.Markish {
  const text = ({ value }: Dot) => format(value)
  return Plot.text(dots, { y: 'row', frameAnchor: 'right', textAnchor: 'end', dx: 38, text })
}

/** What is used of a DOM: its own types would come with globals that Node does not have. */
interface SvgMaker {
  createElementNS(namespace: string, name: string): { setAttribute(name: string, value: string): void }
}

/** To the right of the figures; brackets that share a row stand beside each other. */
function brackets(ties: readonly (readonly number[])[]): Plot.RenderFunction[] {
  let level = 0
  return ties.map((rows, index) => {
    level = rows.some((row) => ties[index - 1]?.includes(row)) ? 1 - level : 0
    return bracket(rows, 7 * level)
  })
}

function bracket(rows: readonly number[], dx: number): Plot.RenderFunction {
  return (_index, { y }, _values, { width }, { document }) => {
    const place = y as (row: number) => number
    const top = place(Math.min(...rows)) + 4
    const bottom = place(Math.max(...rows)) - 4
    const path = (document as unknown as SvgMaker).createElementNS('http://www.w3.org/2000/svg', 'path')
    path.setAttribute('class', 'tie')
    path.setAttribute('d', `M${width - 20 + dx} ${top}h4V${bottom}h-4`)
    return path as ReturnType<Plot.RenderFunction>
  }
}
