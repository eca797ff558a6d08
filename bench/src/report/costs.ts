import { formatCost, formatMicros, orUnknown } from '@startgrid/cli/numbers.ts'
import { left, right, tableOf } from '@startgrid/cli/table.ts'
import { capital } from '@startgrid/cli/text.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import type { Costs } from '../result/experiment.ts'
import type { CostCurve, CostsResult } from '../result/figures.ts'
import type { Result } from '../result/result.ts'
import type { Chart } from './chart.ts'
import type { Section } from './document.ts'

/** What ways to serve cost by amount of work, and what one costs more than another. */

interface Entry {
  costs: Costs
  result: CostsResult
}

interface Row extends CostCurve {
  name: string
  format(interval: Interval): string
}

function entriesOf({ experiment, analysis }: Result): Entry[] {
  return (experiment.costs ?? []).flatMap((one, index) => {
    const result = analysis?.costs?.[index]
    return result === undefined ? [] : [{ costs: one, result }]
  })
}

/** What the headlines of a study say: sentences without their full stop. */
export function costSentences(record: Result): string[] {
  return entriesOf(record).flatMap(({ costs, result }) => {
    const [over, under] = costs.headline ?? []
    const pair = result.pairs.find((one) => one.over === over && one.under === under)
    const extra = pair && costAt(pair, costs.shown)
    if (extra === undefined) return []
    const { low, high, value } = extra
    if (low === null || high === null || (low <= 0 && high >= 0))
      return `No difference between ${over} and ${under} was shown in ${nameOf(costs)}: ${formatExtra(extra)} µs of CPU`
    const [dearer, cheaper] = value > 0 ? [over, under] : [under, over]
    const [least = 0, more = 0, most = 0] = [low, value, high].map(Math.abs).toSorted((a, b) => a - b)
    return (
      `Choosing ${dearer} over ${cheaper} costs ${formatMicros(more)} µs (${formatMicros(least)}–${formatMicros(most)}) of CPU per request for ${nameOf(costs)}: ` +
      `1 % of a request that costs ${formatCost(100 * more)}`
    )
  })
}

/** The extra cost of each pair at the amount that the study shows. @returns undefined if there is none */
export function costChart(record: Result): Chart | undefined {
  const panels = entriesOf(record).map(({ costs, result }) => ({
    title: `${nameOf(costs)}, over ${result.pairs[0]?.under}`,
    dots: result.pairs.flatMap((pair) => {
      if (pair.under !== result.pairs[0]?.under) return []
      const extra = costAt(pair, costs.shown)
      return extra === undefined ? [] : [{ ...extra, name: pair.over, leads: (extra.low ?? 0) > 0 }]
    }),
  }))
  if (panels.every(({ dots }) => dots.length === 0)) return undefined
  return {
    title: 'CPU that a request costs more, in µs',
    caption:
      'With 95 % intervals over launches. It is work on one core; waiting for a database changes capacity in another way.',
    panels,
    columns: 2,
    axis: {
      label: 'µs of CPU more per request',
      scale: 'linear',
      format: (value) => (value < 0 ? signed(value) : formatMicros(value)),
    },
    mark: 0,
  }
}

export function costSections(record: Result): Section[] {
  return entriesOf(record).map(({ costs, result }) => {
    const amounts = Object.keys(Object.values(costs.lines)[0] ?? {}).map(Number)
    const rows: Row[] = [
      ...result.lines.map((line) => ({ ...line, format: formatAbsolute })),
      ...result.pairs.map((pair) => ({ ...pair, name: `${pair.over} − ${pair.under}`, format: formatExtra })),
    ]
    const { title, unit } = costs
    const ofLine = [
      right<Row>('fixed', 0, ({ fixed, format }) => orUnknown(fixed, format)),
      right<Row>(`per ${unit}`, 0, ({ perUnit, format }) => orUnknown(perUnit, format)),
    ]
    const table = tableOf<Row>(rows, [
      left('', 0, ({ name }) => name),
      ...amounts.map((amount) => {
        const heading = unit === undefined ? 'CPU µs (95 %)' : `${amount} ${unit}s`
        return right<Row>(heading, 0, (row) => orUnknown(costAt(row, amount), row.format))
      }),
      ...(unit === undefined ? [] : ofLine),
    ])
    return { title: `${capital(title)}: µs of CPU per request (95 %)`, table, notes: [] }
  })
}

const costAt = ({ points }: CostCurve, amount: number) => points.find((one) => one.amount === amount)?.cost

/** `hello`, `a page of 50 items` */
function nameOf({ title, unit, shown }: Costs): string {
  return unit === undefined ? title : `${title} of ${shown} ${unit}s`
}

/** `14.2 (13.9–14.5)`; a cost is not below 0. */
function formatAbsolute({ value, low, high }: Interval): string {
  if (low === null || high === null) return formatMicros(value)
  return `${formatMicros(value)} (${formatMicros(Math.max(0, low))}–${formatMicros(high)})`
}

/** `+3.1 (+2.0 to +4.2)` */
function formatExtra({ value, low, high }: Interval): string {
  return `${signed(value)}${low === null || high === null ? '' : ` (${signed(low)} to ${signed(high)})`}`
}

/** Microseconds with their sign. */
export function signed(seconds: number): string {
  return `${seconds < 0 ? '−' : '+'}${formatMicros(Math.abs(seconds))}`
}
