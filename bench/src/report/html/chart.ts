import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'
import type { CellSpec } from '../../model/result.ts'
import { html, type Markup, type Part, trusted } from './markup.ts'

/** Charts by Observable Plot as figures that need no script. */

interface Chart {
  /** Above it. */
  title: string
  /** What it shows, for who cannot see it: sentences with the figures that matter. */
  description: string
  plot: Plot.PlotOptions
  /** What the filter knows it by. */
  race?: Partial<Race>
  framework?: string
}

export type Race = Pick<CellSpec, 'role' | 'topology'>

const { document } = parseHTML('<!doctype html><html><body></body></html>')

/** Widths are those of a phone: panels stand side by side where there is room. */
const DEFAULTS: Plot.PlotOptions = {
  width: 360,
  marginLeft: 44,
  marginRight: 12,
  marginTop: 14,
  marginBottom: 34,
}

export function chart({ title, description, plot, race, framework }: Chart): Markup {
  const drawn = String(Plot.plot({ ...DEFAULTS, className: 'plot', ...plot, document }))
  const name = html`role="img" aria-label="${title}. ${description}"`
  return html`<figure class="chart"${filterable(race, framework)}>
<figcaption>${title}</figcaption>
${trusted(tidy(drawn).replace('<svg ', `<svg ${name} `))}
</figure>`
}

/** Attributes that the filter of the page looks at. */
export function filterable(race: Partial<Race> = {}, framework?: string): Part {
  return [
    race.role !== undefined && html` data-role="${race.role}"`,
    race.topology !== undefined && html` data-topology="${race.topology}"`,
    framework !== undefined && html` data-framework="${framework.replace(/#.*/, '')}"`,
  ]
}

/** `hello direct` */
export function raceTitle({ role, topology }: Race): string {
  return `${role} ${topology}`
}

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
