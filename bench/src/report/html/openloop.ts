import type { CellSpec, OpenLoopResult } from '../../model/result.ts'
import type { Section } from '../section.ts'
import { sectionsOf } from '../sections.ts'
import { capacityCharts, stepsTable } from './capacity-chart.ts'
import { filterable, type Race } from './chart.ts'
import { latencyCharts } from './latency-chart.ts'
import { html, type Markup, type Part, prose } from './markup.ts'
import { overloadCharts } from './overload-chart.ts'
import { plainTable } from './plain-table.ts'
import { recoveryChart } from './recovery-chart.ts'
import { legend } from './series.ts'

/** Capacity, latency and overload: of every race its table, what must be said about it, and its charts. */
export function openLoop(result: OpenLoopResult): Markup {
  return html`${sectionsOf(result).map((section) => raceBlock(section, result))}`
}

function raceBlock({ race, title, table, notes }: Section, result: OpenLoopResult): Markup {
  if (race === null) return html``
  const frameworks = ownCells(result, race).map(({ framework }) => framework)
  return html`<article${filterable(race)}>
<h3>${title}</h3>
${plainTable(title, table, ownCells(result, race))}
${notes.length > 0 && html`<ul class="notes">${notes.map((note) => html`<li>${prose(note)}</li>`)}</ul>`}
${result.kind !== 'capacity' && legend([...new Set(frameworks)])}
${chartsOf(result, race)}
</article>`
}

function ownCells({ cells }: OpenLoopResult, race: Race): CellSpec[] {
  return cells.filter(({ role, topology }) => role === race.role && topology === race.topology)
}

function chartsOf(result: OpenLoopResult, race: Race): Part {
  const own = new Map(ownCells(result, race).map((spec) => [spec.id, spec]))
  const pick = <Figures extends { cell: string }>(all: readonly Figures[] | null) =>
    (all ?? []).flatMap((figures) => {
      const spec = own.get(figures.cell)
      return spec === undefined ? [] : [{ spec, figures }]
    })
  switch (result.kind) {
    case 'latency':
      return html`<div class="panels">${latencyCharts(pick(result.analysis))}</div>`
    case 'overload':
      return html`<div class="panels">${overloadCharts(pick(result.analysis))}${recoveryChart(result, [...own.values()], race)}</div>`
    case 'capacity': {
      const capacity = pick(result.analysis)
      if (capacity.length === 0) return null
      return html`<div class="panels">${capacityCharts(capacity, result.settings.p99Ms)}</div>
<details class="long"><summary>Every step of the staircases</summary>${stepsTable(capacity)}</details>`
    }
  }
}
