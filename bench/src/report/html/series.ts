import { FRAMEWORKS } from '@startgrid/grid/apps.ts'
import { html, type Markup } from './markup.ts'

/** How a framework is drawn: the same colour and dashes in every chart, so that neither is needed alone. */
interface Series {
  /** A custom property of page.css, which knows light, dark, print and forced colours. */
  color: string
  /** For `stroke-dasharray`. */
  dash: string
}

const DASHES = ['none', '7 2', '2 2', '9 2 2 2', '4 3', '12 3', '1 3'] as const

/** @param framework as in a cell: `node`, or its twin `node#2` */
export function seriesOf(framework: string): Series {
  const [base = '', number] = framework.split('#')
  const known = (FRAMEWORKS as readonly string[]).indexOf(base)
  const index = number === undefined ? known : Number(number) - 1
  const place = Number.isInteger(index) && index >= 0 ? index % DASHES.length : DASHES.length - 1
  return { color: `var(--series-${place})`, dash: DASHES[place] ?? 'none' }
}

/** Names beside a stroke of their colour. */
export function legend(frameworks: readonly string[]): Markup {
  const items = frameworks.map((framework) => {
    const { color, dash } = seriesOf(framework)
    const stroke = html`<svg width="28" height="8" aria-hidden="true"><path d="M0 4H28" stroke="${color}" stroke-dasharray="${dash}" stroke-width="2.5"/></svg>`
    return html`<li>${stroke}${framework}</li>`
  })
  return html`<ul class="legend">${items}</ul>`
}
