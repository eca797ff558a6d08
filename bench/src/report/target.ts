import {
  formatMs,
  formatPercent,
  formatRate,
  formatRateEnds,
  formatShort,
  orUnknown,
} from '@startgrid/cli/numbers.ts'
import { type ItemColumn, left, right, type Table, tableOf, withoutUnknown } from '@startgrid/cli/table.ts'
import { plural } from '@startgrid/cli/text.ts'
import { isQuiet } from '../judge/analysis/slices.ts'
import type { CellFigures } from '../model/figures.ts'
import type { Slice } from '../model/heat.ts'
import { METRIC_NAMES } from '../model/names.ts'
import type { RaceResult } from '../model/result.ts'
import type { LineChart, Section } from './document.ts'
import { gateSections } from './race.ts'
import { describeVoided } from './summary.ts'

/** Of a server that already ran: one row, nobody to rank it with, and nothing that its machine alone could tell. None before the first heat has ended. */
export function targetSections(result: RaceResult): Section[] {
  const [spec] = result.cells
  const [figures] = result.analysis?.cells ?? []
  if (spec === undefined || figures === undefined) return []
  const { role, workload, connections } = spec
  return [
    {
      title: `${role}: ${workload}, ${plural(connections, 'connection')}`,
      table: figuresTable(figures, result),
      notes: notesOf(figures, result),
    },
    ...gateSections(result),
  ]
}

function figuresTable(figures: CellFigures, { target, driver: { ceiling } }: RaceResult): Table {
  const columns: ItemColumn<CellFigures>[] = [
    left('server', 0, () => target?.origin ?? ''),
    right('req/s', 0, ({ rate, voided }) =>
      `${voided ? 'void ' : ''}${rate === null ? '' : formatRate(rate.value)}`.trim(),
    ),
    right('95 %', 0, ({ rate }) => (rate === null ? '' : formatRateEnds(rate))),
    right('mean ms', 0, ({ meanLatency }) => orUnknown(meanLatency, (seconds) => formatMs(seconds * 1000))),
    right('of ceiling', 1, ({ rate }) =>
      rate !== null && ceiling !== null ? formatPercent(rate.value / ceiling) : '',
    ),
    right('heats', 2, ({ launches }) => String(launches)),
    right('slices', 3, ({ slices }) => String(slices)),
    right('disturbed', 4, ({ disturbed }) => String(disturbed)),
  ]
  return withoutUnknown(tableOf([figures], columns, ({ voided }) => (voided ? 'void' : 'plain')))
}

/** Why it is void, and in what it differs from the contract: the app is somebody's own, and nobody else tells them. */
function notesOf(figures: CellFigures, { conformance }: RaceResult): string[] {
  const differences = conformance.flatMap((record) => record.differences)
  const more = differences.length - NAMED
  return [
    ...describeVoided([figures], (_, finding) => finding),
    ...differences.slice(0, NAMED).map((difference) => `Not as the contract says, ${difference}.`),
    ...(more > 0
      ? [`${plural(more, 'more difference')} of the contract: see conformance in result.json.`]
      : []),
  ]
}

/** More are counted. */
const NAMED = 8

/** Slice by slice: a rate that climbs, falls or jumps is not one number. */
export function targetChart({ heats, analysis }: RaceResult): LineChart | undefined {
  const [first] = heats
  const points = heats.flatMap(({ startedAt, slices }) => {
    const began = (Date.parse(startedAt) - Date.parse(first?.startedAt ?? startedAt)) / 1000
    const measured = slices.filter(({ phase }: Slice) => phase === 'measure')
    return measured.map((slice) => ({
      x: began + slice.at,
      y: slice.requests / slice.seconds,
      isOff: !isQuiet(slice),
    }))
  })
  const rate = analysis?.cells[0]?.rate ?? null
  if (points.length === 0) return undefined
  return {
    kind: 'lines',
    title: 'Slice by slice, with mean and 95 % interval; × does not count',
    x: { label: 'seconds', scale: 'linear', format: String },
    y: { label: METRIC_NAMES.rate, scale: 'linear', format: formatShort },
    lines: [{ name: 'slices', leads: true, drawn: 'dots', points }],
    ...(rate !== null && { band: rate }),
  }
}
