import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'
import { html, type Markup, trusted } from './markup.ts'

/** What Observable Plot draws, as a figure that needs no script. */

export interface Drawing {
  title: string
  /** What it shows, for people who cannot see it: sentences with the figures. */
  description: string
  plot: Plot.PlotOptions
}

const { document } = parseHTML('<!doctype html><html><body></body></html>')

/** Widths are those of a phone: panels stand side by side where there is room. */
const DEFAULTS: Plot.PlotOptions = {
  width: 360,
  marginLeft: 44,
  marginRight: 12,
  marginTop: 14,
  marginBottom: 34,
}

export function draw({ title, description, plot }: Drawing): Markup {
  const drawn = String(Plot.plot({ ...DEFAULTS, className: 'plot', ...plot, document }))
  const name = html`role="img" aria-label="${title}. ${description}"`
  return html`<figure class="chart">
<figcaption>${title}</figcaption>
${trusted(tidy(drawn).replace('<svg ', `<svg ${name} `))}
</figure>`
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

/** For a logarithmic axis: 1, 2 and 5 of every power of ten inside; only the powers if that is many. */
export function roundTicks([low, high]: readonly [number, number]): number[] {
  const steps = high / low > 200 ? [1] : [1, 2, 5]
  const powers = Array.from({ length: 12 }, (_, index) => 10 ** (index - 4))
  return powers
    .flatMap((power) => steps.map((step) => Number((step * power).toPrecision(3))))
    .filter((tick) => tick >= low * 0.99 && tick <= high * 1.01)
}
