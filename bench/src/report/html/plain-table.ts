import type { Table } from '@startgrid/cli/table.ts'
import type { Result } from '../../model/result.ts'
import { filterable } from './chart.ts'
import { html, type Markup } from './markup.ts'
import { numberCell, rowHeading, table } from './table.ts'

/** A table that the other reports print, with figures that sort as numbers. */
export function plainTable(caption: string, { columns, rows }: Table, cells: Result['cells']): Markup {
  const headings = columns.map(({ heading, align }) => ({ text: heading, align, sortable: rows.length > 1 }))
  return table(
    caption,
    headings,
    rows.map(({ tone, cells: [name = '', ...figures] }) => {
      const framework = cells.find((spec) => name.startsWith(spec.framework))?.framework
      const isVoid = tone === 'void'
      return html`<tr class="${tone}" data-cell${filterable(undefined, framework)}>${rowHeading(isVoid ? html`<s>${name}</s>` : name)}${figures.map(
        (text, index) =>
          columns[index + 1]?.align === 'right' ? numberCell(numberIn(text), text) : html`<td>${text}</td>`,
      )}</tr>`
    }),
  )
}

/** `20,469`, `17.6k` or `86 %` as a number; null if it is not a number. */
function numberIn(text: string): number | null {
  const found = /^(-?[\d,]+(?:\.\d+)?)(k?)/.exec(text)
  if (found === null) return null
  return Number(found[1]?.replaceAll(',', '')) * (found[2] === 'k' ? 1000 : 1)
}
