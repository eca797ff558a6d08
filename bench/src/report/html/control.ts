import { formatEnds, formatPercent, formatRatio, orUnknown } from '@startgrid/cli/numbers.ts'
import type { Control, Race } from '../../model/figures.ts'
import { METRIC_NAMES } from '../../model/names.ts'
import type { RaceResult } from '../../model/result.ts'
import { formatEffect, shortName } from '../summary.ts'
import { filterable, raceTitle } from './chart.ts'
import { html, type Markup } from './markup.ts'
import { formatP } from './pairs.ts'
import { numberCell, rowHeading, stacked, table } from './table.ts'
import { ratioAxis, whiskerCell, whiskerHeading } from './whisker.ts'

/** What a race found where there is nothing to find, and what it could have found. */
export function control(result: RaceResult): Markup {
  const races = result.analysis?.races ?? []
  const axis = ratioAxis(races.map((race) => race.control?.ratio ?? null))
  const right = (text: string, below: string) => ({
    text: stacked(text, below),
    align: 'right' as const,
    sortable: true,
  })
  return table(
    'A/A control of every race',
    [
      { text: 'Race', sortable: true },
      { text: 'Metric', sortable: true },
      right('twin over original', '95 % interval'),
      whiskerHeading('twin over original', axis, formatRatio),
      right('p', 'two-sided'),
      { text: 'Verdict' },
      right('smallest effect', 'in one pair'),
      right('smallest effect', 'with all pairs'),
      right('launches vary', 'pooled CV'),
    ],
    races.map((race) => controlRow(race, result, axis)),
  )
}

function controlRow(race: Race, result: RaceResult, axis: ReturnType<typeof ratioAxis>): Markup {
  const { control, smallestEffect, launchSpread } = race
  const framework = result.cells.find(({ id }) => id === control?.original)?.framework ?? ''
  return html`<tr${filterable(race)}${control?.suspect === true && html` class="void"`}>${rowHeading(raceTitle(race))}<td>${METRIC_NAMES[race.metric]}</td>${[
    numberCell(control?.ratio.value, control && ratioText(control, result)),
    whiskerCell(control?.ratio ?? null, axis, framework),
    numberCell(control?.p, orUnknown(control?.p, formatP)),
    html`<td>${verdict(control)}</td>`,
    numberCell(smallestEffect?.single, orUnknown(smallestEffect?.single, formatEffect)),
    numberCell(smallestEffect?.adjusted, orUnknown(smallestEffect?.adjusted, formatEffect)),
    numberCell(launchSpread, orUnknown(launchSpread, formatPercent)),
  ]}</tr>`
}

function ratioText({ twin, original, ratio }: Control, result: RaceResult): Markup {
  const digits = (value: number) => value.toFixed(3)
  const name = html`<span class="vh">${shortName(twin, result)} over ${shortName(original, result)}: </span>`
  return html`${name}${stacked(digits(ratio.value), formatEnds(ratio, digits))}`
}

function verdict(control: Control | null): Markup {
  if (control === null) return html`no twin raced`
  if (control.suspect) return html`<b class="worse">✗ suspect</b>: unequal`
  return html`<b class="better">✓</b> nothing found`
}
