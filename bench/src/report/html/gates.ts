import { plural } from '@startgrid/cli/text.ts'
import type { CellFigures, GateName, GateResult } from '../../model/figures.ts'
import { nameOf } from '../../model/names.ts'
import type { CellSpec, RaceResult } from '../../model/result.ts'
import { describeSkipped } from '../summary.ts'
import { filterable } from './chart.ts'
import { html, type Markup, prose } from './markup.ts'
import { rowHeading, table } from './table.ts'

const SIGNS: Readonly<Record<GateResult['verdict'], string>> = {
  passed: '✓',
  failed: '✗',
  unknown: '?',
  'not meant': '·',
}

/** What every cell had to pass before its number was printed: failed gates in full, all others behind one line. */
export function gates(result: RaceResult): Markup {
  const cells = (result.analysis?.cells ?? []).flatMap((figures) => {
    const spec = result.cells.find(({ id }) => id === figures.cell)
    return spec === undefined || spec.skipped !== null || figures.gates.length === 0
      ? []
      : [{ spec, figures }]
  })
  const names = [...new Set(cells.flatMap(({ figures }) => figures.gates.map(({ gate }) => gate)))]
  const sortable = cells.length > 1
  const headings = [
    { text: 'App', sortable },
    { text: 'Via', sortable },
    ...names.map((text) => ({ text, align: 'center' as const, sortable })),
    { text: 'Errors', align: 'right' as const },
    { text: result.mode === 'target' ? 'Heats' : 'Launches', align: 'right' as const },
    { text: 'Slices', align: 'right' as const },
    { text: 'Disturbed', align: 'right' as const },
  ]
  const isFailed = ({ verdict }: GateResult) => verdict === 'failed'
  const failed = cells.filter(({ figures }) => figures.gates.some(isFailed))
  return html`<p>No gate failed in ${cells.length - failed.length} of ${plural(cells.length, 'cell')}.</p>
${failed.length > 0 && findings('Failed gates', cells, isFailed)}
${describeSkipped(result).map((sentence) => html`<p>${sentence}</p>`)}
<details class="long"><summary>Every gate of every cell</summary>
<p>✓ passed, ✗ failed (the number is void), ? this system or driver does not tell, · not meant for this cell.
 A disturbed slice does not count, unless others disturbed most slices of its launch.</p>
${table(
  'Gates of every cell',
  headings,
  cells.map((cell) => gateRow(cell, names)),
  'tall',
)}${findings('Findings of all gates', cells)}</details>`
}

interface Gated {
  spec: CellSpec
  figures: CellFigures
}

function gateRow({ spec, figures }: Gated, names: readonly GateName[]): Markup {
  const counts = [figures.errors, figures.launches, figures.slices, figures.disturbed]
  return html`<tr${filterable(spec, spec.framework)}>${rowHeading(`${spec.role} ${nameOf(spec)}`)}<td>${spec.topology}</td>${names.map(
    (name) => signCell(figures.gates.find(({ gate }) => gate === name)),
  )}${counts.map((count) => html`<td class="right">${count.toLocaleString('en-US')}</td>`)}</tr>`
}

function signCell(gate: GateResult | undefined): Markup {
  if (gate === undefined) return html`<td></td>`
  const { verdict } = gate
  return html`<td class="center ${verdict.replace(' ', '-')}"><span aria-hidden="true">${SIGNS[verdict]}</span><span class="vh">${verdict}</span></td>`
}

/** What a reader looks for first. */
const ORDER: readonly GateResult['verdict'][] = ['failed', 'unknown', 'not meant', 'passed']

interface Finding extends GateResult {
  cell: string
}

/** Cells of which the same was found stand together. */
function findings(
  caption: string,
  cells: readonly Gated[],
  isShown: (gate: GateResult) => boolean = () => true,
): Markup {
  const all = cells.flatMap(({ spec, figures }) =>
    figures.gates.filter(isShown).map((gate): Finding => ({ ...gate, cell: spec.id })),
  )
  const groups = Map.groupBy(
    all,
    ({ gate, verdict, finding }) => `${ORDER.indexOf(verdict)} ${gate}\n${finding}`,
  )
  const rows = [...groups]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([, group]) => findingRow(group, cells.length))
  const headings = ['Gate', 'Verdict', 'Finding', 'Cells'].map((text) => ({ text }))
  return table(caption, headings, rows, 'prose tall')
}

function findingRow(group: readonly Finding[], all: number): Markup | null {
  const [first] = group
  if (first === undefined) return null
  const { gate, verdict, finding, advice } = first
  const names = group.length === all ? 'all' : group.map(({ cell }) => cell).join(', ')
  const found = html`${finding}${advice !== null && html`. <b>${prose(advice)}</b>`}`
  return html`<tr>${rowHeading(gate)}<td>${verdict}</td><td>${found}</td><td>${names}</td></tr>`
}
