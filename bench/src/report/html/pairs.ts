import { formatEnds, formatRatio, orUnknown, UNKNOWN } from '@startgrid/cli/numbers.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { SIGNIFICANT, standingsOf } from '../../judge/standings.ts'
import type { Race } from '../../model/figures.ts'
import { METRIC_NAMES } from '../../model/names.ts'
import type { RaceResult } from '../../model/result.ts'
import { ratioOf, shortName } from '../summary.ts'
import { filterable, raceTitle } from './chart.ts'
import { html, type Markup } from './markup.ts'
import { figures, numberCell, rowHeading, table } from './table.ts'

/** Who beats whom: of every race a matrix of all pairs, after Holm's correction. */
export function pairs(result: RaceResult): Markup {
  const races = standingsOf(result)
    .flatMap(({ races }) => races.rate ?? [])
    .filter((race) => race.pairs.length > 0)
  return html`<p>Each figure is the row over the column. <b class="better">▲</b> the row was shown to be better, <b class="worse">▼</b> to be worse,
 after Holm’s correction over all pairs of the race; <b>=</b> no difference was shown.</p>
<div class="matrices">${races.map((race) => matrix(race, result))}</div>
<details class="long"><summary>All pairs with intervals and p</summary>${pairTable(races, result)}</details>`
}

function matrix(race: Race, result: RaceResult): Markup {
  const cells = race.ranks.map(({ cell }) => cell)
  const names = cells.map((cell) => shortName(cell, result))
  const rows = cells.map((row, index) => {
    const figures = cells.map((column) =>
      row === column ? html`<td class="self"></td>` : pairCell(race, row, column),
    )
    return html`<tr>${rowHeading(names[index] ?? '')}${figures}</tr>`
  })
  const name = `${raceTitle(race)}, by ${METRIC_NAMES[race.metric]}`
  const headings = [
    { text: html`<span class="vh">Row over column</span>` },
    ...names.map((text) => ({ text, align: 'center' as const })),
  ]
  return html`<div${filterable(race)}><h3>${name}</h3>${table(`Pairs of ${name}`, headings, rows, 'matrix')}</div>`
}

function pairCell(race: Race, row: string, column: string): Markup {
  const ratio = ratioOf(race, row, column)
  if (ratio === null) return html`<td>${UNKNOWN}</td>`
  const [tone, sign, word] = judge(race, row, column, ratio)
  return html`<td class="${tone}"><span aria-hidden="true">${sign}</span><span class="vh">${word}</span> ${formatRatio(ratio.value)}</td>`
}

function judge(race: Race, row: string, column: string, ratio: Interval): readonly [string, string, string] {
  const pair = race.pairs.find(({ a, b }) => (a === row && b === column) || (a === column && b === row))
  if ((pair?.pAdjusted ?? 1) >= SIGNIFICANT) return ['tie', '=', 'no difference shown']
  const isBetter = race.metric === 'rate' ? ratio.value > 1 : ratio.value < 1
  return isBetter ? ['better', '▲', 'better'] : ['worse', '▼', 'worse']
}

/** Each pair once, as it was tested. */
function pairTable(races: readonly Race[], result: RaceResult): Markup {
  const rows = races.flatMap((race) =>
    race.pairs.map(({ a, b, ratio, p, pAdjusted }) => {
      const names = `${shortName(a, result)} over ${shortName(b, result)}`
      return html`<tr${filterable(race)}>${rowHeading(names)}<td>${raceTitle(race)}</td><td>${METRIC_NAMES[race.metric]}</td>${[
        numberCell(ratio.value, formatRatio(ratio.value)),
        html`<td class="right">${formatEnds(ratio, formatRatio)}</td>`,
        numberCell(p, orUnknown(p, formatP)),
        numberCell(pAdjusted, orUnknown(pAdjusted, formatP)),
      ]}</tr>`
    }),
  )
  const headings = [
    { text: 'Pair', sortable: true },
    { text: 'Race', sortable: true },
    { text: 'Metric', sortable: true },
    figures('ratio'),
    { text: '95 % interval', align: 'right' as const },
    figures('p'),
    figures('p after Holm'),
  ]
  return table('All pairs', headings, rows, 'tall')
}

/** A probability: `0.021`, `< 0.001`. */
export function formatP(p: number): string {
  return p < 0.001 ? '< 0.001' : p.toFixed(3)
}
