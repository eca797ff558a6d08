import * as Plot from '@observablehq/plot'
import { formatEnds } from '@startgrid/cli/numbers.ts'
import { median } from '@startgrid/stats/moments.ts'
import type { Dot, DotChart, Panel } from '../document.ts'
import { type Drawing, draw, roundTicks } from './drawing.ts'
import { html, type Markup } from './markup.ts'

/** Nothing is drawn farther out than this factor; its figure says more. */
const FARTHEST = 4

const GREY = 'var(--dot)'
const ACCENT = 'var(--accent)'

interface Scale {
  domain: [number, number]
  ticks: number[]
}

export function drawDots(chart: DotChart): Markup {
  const { title, caption, columns } = chart
  return html`<div role="group" aria-label="${title}">
<p class="caption"><b>${title}.</b> ${caption}</p>
<div class="panels columns-${columns}">${drawingsOf(chart).map(draw)}</div>
</div>`
}

/** All panels on one axis. */
function drawingsOf({ panels, axis, mark }: DotChart): Drawing[] {
  const scale =
    axis.scale === 'linear' ? linearScale(panels) : mark === undefined ? logScale(panels) : ratioScale(panels)
  return panels.map((panel) => {
    const names = [...new Set(panel.dots.map(({ name }) => name))]
    return {
      title: panel.title,
      description: `${axis.label}: ${panel.dots.map((dot) => describe(dot, axis.format)).join(', ')}`,
      plot: {
        height: 38 + 21 * names.length,
        marginTop: 4,
        marginLeft: 84,
        marginRight: 62,
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
        y: { domain: names, label: null, tickSize: 0 },
        marks: [
          ...(mark === undefined ? [] : [Plot.ruleX([mark], { strokeOpacity: 0.6 })]),
          ...panel.dots.flatMap((dot) => marksOf(dot, scale)),
          ...(names.length === panel.dots.length ? [valueTexts(panel.dots, axis.format)] : []),
          ...brackets(panel.ties ?? []),
        ],
      },
    }
  })
}

function describe({ name, label, value, ...ends }: Dot, format: (value: number) => string): string {
  const who = label === undefined ? name : `${name} ${label}`
  const interval = ends.low === null ? '' : ` (${formatEnds({ value, ...ends }, format)})`
  return `${who} ${format(value)}${interval}`
}

function marksOf(dot: Dot, { domain: [least, most] }: Scale): Plot.Markish[] {
  const color = dot.leads ? ACCENT : GREY
  if (dot.value > most || dot.value < least) {
    const isLow = dot.value < least
    const arrow = { frameAnchor: isLow ? 'left' : 'right', text: () => (isLow ? '◂' : '▸') } as const
    return [Plot.text([dot], { y: 'name', fill: color, ...arrow })]
  }
  const ends =
    dot.low === null
      ? []
      : [Plot.ruleY([dot], { x1: 'low', x2: 'high', y: 'name', stroke: color, strokeWidth: 2 })]
  return [...ends, Plot.dot([dot], { x: 'value', y: 'name', fill: color, r: 4.5 })]
}

function valueTexts(dots: readonly Dot[], format: (value: number) => string): Plot.Markish {
  const text = ({ value }: Dot) => format(value)
  return Plot.text(dots, { y: 'name', frameAnchor: 'right', textAnchor: 'end', dx: 38, text })
}

/** What is used of a DOM: its own types would come with globals that Node does not have. */
interface SvgMaker {
  createElementNS(namespace: string, name: string): { setAttribute(name: string, value: string): void }
}

/** To the right of the figures; brackets that share a name stand beside each other. */
function brackets(ties: NonNullable<Panel['ties']>): Plot.RenderFunction[] {
  let level = 0
  return ties.map((names, index) => {
    level = names.some((name) => ties[index - 1]?.includes(name)) ? 1 - level : 0
    return bracket(names, 7 * level)
  })
}

function bracket(names: readonly string[], dx: number): Plot.RenderFunction {
  return (_index, { y }, _values, { width }, { document }) => {
    const place = y as ((name: string) => number) & { bandwidth(): number }
    const [first = '', last = first] = [names[0], names.at(-1)]
    const [top, bottom] = [place(first) + 4, place(last) + place.bandwidth() - 4]
    const path = (document as unknown as SvgMaker).createElementNS('http://www.w3.org/2000/svg', 'path')
    path.setAttribute('class', 'tie')
    path.setAttribute('d', `M${width - 20 + dx} ${top}h4V${bottom}h-4`)
    return path as ReturnType<Plot.RenderFunction>
  }
}

/** Around all dots, with a round ratio every tenth of it or farther apart. */
function ratioScale(panels: readonly Panel[]): Scale {
  const dots = panels.flatMap((panel) => panel.dots)
  const low = Math.min(0.8, ...dots.map(({ value, low }) => Math.max(1 / FARTHEST, low ?? value))) * 0.97
  const high = Math.max(1.25, ...dots.map(({ value, high }) => Math.min(FARTHEST, high ?? value))) * 1.03
  const ticks = [1, 2, 0.5, 4, 0.25, 1.5, 0.7, 3, 0.8, 1.25, 0.9, 1.1]
  const least = Math.log(high / low) / 8
  const apart = ticks.filter(
    (tick, index) =>
      tick > low &&
      tick < high &&
      ticks.slice(0, index).every((other) => Math.abs(Math.log(tick / other)) > least),
  )
  return { domain: [low, high], ticks: apart }
}

function logScale(panels: readonly Panel[]): Scale {
  const ends = panels.flatMap(({ dots }) =>
    dots.flatMap(({ value, low, high }) => [low ?? value, high ?? value]),
  )
  const domain: [number, number] = [Math.min(...ends) * 0.9, Math.max(...ends) * 1.1]
  return { domain, ticks: roundTicks(domain) }
}

/** From 0, or from below it. One value that is far off would make all others look alike; an interval is cut only far beyond that. */
function linearScale(panels: readonly Panel[]): Scale {
  const dots = panels.flatMap((panel) => panel.dots)
  const limit = FARTHEST * median(dots.map(({ value }) => Math.abs(value)))
  const near = dots.filter(({ value }) => Math.abs(value) <= limit)
  const least = Math.min(0, ...near.map(({ value, low }) => Math.max(-3 * limit, low ?? value)))
  const most = Math.max(
    Number.MIN_VALUE,
    ...near.map(({ value, high }) => Math.min(3 * limit, high ?? value)),
  )
  const size = most - least
  const step = 10 ** Math.floor(Math.log10(size))
  const width = [0.5, 1, 2, 5].map((part) => part * step).find((one) => size / one <= 4) ?? step
  const first = Math.ceil(least / width)
  const count = Math.floor(most / width) - first + 1
  return {
    domain: [least, most],
    ticks: Array.from({ length: count }, (_, index) => (first + index) * width),
  }
}
