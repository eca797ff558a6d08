import { html, type Markup, type Part } from './markup.ts'

/** Tables of the page: they scroll inside their own region, and a script makes their headings buttons that sort. */

export interface Heading {
  text: Part
  align?: 'left' | 'right' | 'center'
  /** Cells have a `data-value` to sort by. */
  sortable?: boolean
  /** The order in which the rows already are. */
  sorted?: 'ascending' | 'descending'
}

/** The heading of a column of figures, which sort. */
export function figures(text: Part): Heading {
  return { text, align: 'right', sortable: true }
}

/** @param rows `<tr>` each */
export function table(
  caption: string,
  headings: readonly Heading[],
  rows: readonly (Markup | null)[],
  className = '',
): Markup {
  return html`<div class="scroll ${className}" role="group" aria-label="${caption}" tabindex="0">
<table><caption class="vh">${caption}</caption>
<thead><tr>${headings.map(headingCell)}</tr></thead>
<tbody>
${rows.map((row) => html`${row}\n`)}</tbody></table></div>`
}

function headingCell({ text, align = 'left', sortable = false, sorted }: Heading): Markup {
  const order = sorted !== undefined && html` aria-sort="${sorted}"`
  return html`<th scope="col" class="${align}"${sortable && html` data-sortable`}${order}>${text}</th>`
}

/** A cell with what it sorts by, in any unit; null sorts last. */
export function numberCell(value: number | null | undefined, text: Part, className = ''): Markup {
  const sorts = value !== null && value !== undefined && html` data-value="${Number(value.toPrecision(6))}"`
  return html`<td class="right ${className}"${sorts}>${text}</td>`
}

export function rowHeading(text: Part): Markup {
  return html`<th scope="row">${text}</th>`
}

/** A value with a smaller line below it. */
export function stacked(value: Part, below: Part): Markup {
  return html`${value} <small>${below}</small>`
}
