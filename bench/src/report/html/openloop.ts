import type { Result } from '../../model/result.ts'
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
export function openLoop(result: Result): Markup {
  return html`${sectionsOf(result).map((section) => raceBlock(section, result))}`
}

function raceBlock({ race, title, table, notes }: Section, result: Result): Markup {
  if (race === null) return html``
  const frameworks = ownCells(result, race).map(({ framework }) => framework)
  return html`<article${filterable(race)}>
<h3>${title}</h3>
${plainTable(title, table, ownCells(result, race))}
${notes.length > 0 && html`<ul class="notes">${notes.map((note) => html`<li>${prose(note)}</li>`)}</ul>`}
${result.capacity === null && legend([...new Set(frameworks)])}
${chartsOf(result, race)}
</article>`
}

function ownCells({ cells }: Result, race: Race): Result['cells'] {
  return cells.filter(({ role, topology }) => role === race.role && topology === race.topology)
}

function chartsOf(result: Result, race: Race): Part {
  const own = new Map(ownCells(result, race).map((spec) => [spec.id, spec]))
  const pick = <Figures extends { cell: string }>(all: readonly Figures[] | null) =>
    (all ?? []).flatMap((figures) => {
      const spec = own.get(figures.cell)
      return spec === undefined ? [] : [{ spec, figures }]
    })
  const capacity = pick(result.capacity)
  return [
    html`<div class="panels">${latencyCharts(pick(result.latency))}${overloadCharts(pick(result.overload))}${recoveryChart(result, [...own.values()], race)}</div>`,
    capacity.length > 0 &&
      html`<div class="panels">${capacityCharts(capacity, result.settings.p99Ms)}</div>
<details class="long"><summary>Every step of the staircases</summary>${stepsTable(capacity)}</details>`,
  ]
}
