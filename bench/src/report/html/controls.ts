import type { Result } from '../../model/result.ts'
import { html, type Markup } from './markup.ts'

/** What chooses the cells to be shown. Hidden until the script is there to obey it. */
export function controls({ cells }: Result): Markup {
  const frameworks = new Set(
    cells.filter(({ twinOf }) => twinOf === null).map(({ framework }) => framework.replace(/#.*/, '')),
  )
  const boxes = [...frameworks].map(
    (name) => html`<label><input type="checkbox" name="framework" value="${name}" checked>${name}</label>`,
  )
  return html`<form id="filter" aria-label="Filter" hidden>
${choice('role', 'Role', new Set(cells.map(({ role }) => role)))}
${choice('topology', 'Via', new Set(cells.map(({ topology }) => topology)))}
<fieldset><legend>Frameworks</legend>${boxes}</fieldset>
<button type="reset">Show all</button>
<output role="status"></output>
</form>`
}

function choice(name: string, label: string, values: ReadonlySet<string>): Markup {
  const options = [...values].map((value) => html`<option value="${value}">${value}</option>`)
  return html`<label>${label} <select name="${name}"><option value="">all</option>${options}</select></label>`
}
