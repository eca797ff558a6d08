import { type Interval, rowMean } from '@startgrid/stats/estimate.ts'
import { fitLayouts } from '@startgrid/stats/variances.ts'
import type { Metric } from '../model/figures.ts'
import type { Cell, Heat } from '../model/result.ts'
import { compare } from './analysis/race.ts'
import { type CellRecord, recordCells } from './analysis/record.ts'

/** Ways to serve the same, and their heats. */
export interface Measured {
  name: string
  cells: readonly Cell[]
  heats: readonly Heat[]
}

/** What the ways of one group cost. */
export interface OverheadFigures {
  name: string
  /** Of app and proxy together, in CPU seconds per request or, where the system does not tell, seconds per response. By way. */
  costs: Readonly<Record<string, Cost>>
  /** Cost of one way over that of another one; undefined if one was not measured. */
  ratio(over: string, under: string): Interval | undefined
}

export interface Cost extends Interval {
  /** CPU seconds of NGINX per request; null without one. */
  proxy: number | null
}

/**
 * The launches of each group are compared within their passes and heats, as in a race.
 * @returns a group for each that has a measurement; and sentences about what went wrong
 */
export function judgeOverhead(groups: readonly Measured[]): {
  groups: OverheadFigures[]
  failures: string[]
} {
  const records = groups.map((group) => ({ group, records: recordCells(group.cells, group.heats) }))
  const knowsCpu = records.some((one) => one.records.some(({ logs }) => logs.cpu.some((log) => log !== null)))
  const metric: Metric = knowsCpu ? 'cpu' : 'rate'
  const layouts = fitLayouts(
    records.map((one) => {
      const measured = one.records.filter(({ logs }) => logs[metric].some((log) => log !== null))
      const names = measured.map(({ cell }) => cell.id)
      return { names, values: measured.map(({ logs }) => [...logs[metric]]), measured, name: one.group.name }
    }),
  )
  return {
    groups: layouts
      .filter(({ names }) => names.length > 0)
      .map((layout) => ({
        name: layout.name,
        costs: Object.fromEntries(
          layout.measured.map((record, row) => {
            const value = rowMean(layout, row)
            const cost = metric === 'cpu' ? value : inverse(value)
            return [record.cell.id, { ...cost, proxy: proxyOf(record) }]
          }),
        ),
        ratio(over, under) {
          const [a = -1, b = -1] = [over, under].map((name) => layout.names.indexOf(name))
          if (a < 0 || b < 0) return undefined
          return metric === 'cpu' ? compare(layout, a, b).ratio : compare(layout, b, a).ratio
        },
      })),
    failures: groups.flatMap(failuresOf),
  }
}

function inverse({ value, low, high }: Interval): Interval {
  return { value: 1 / value, low: high && 1 / high, high: low && 1 / low }
}

function proxyOf({ cell, launches }: CellRecord<Cell>): number | null {
  if (cell.topology === 'direct') return null
  const known = launches.filter((one) => one !== null)
  const requests = known.reduce((sum, one) => sum + one.requests, 0)
  const seconds = known.reduce((sum, { cpuSeconds }) => sum + (cpuSeconds.proxy ?? Number.NaN), 0)
  return Number.isFinite(seconds / requests) ? seconds / requests : null
}

/** A wrong response voids a number, and what did not start has none. */
function failuresOf({ name, heats }: Measured): string[] {
  return heats.flatMap(({ heat, failures, slices }) => [
    ...failures.map(({ cell, reason }) => `${name}, ${cell}, heat ${heat}: ${reason}.`),
    ...slices
      .filter(({ errors }) => Object.keys(errors).length > 0)
      .map(
        ({ cell, errors }) => `${name}, ${cell}, heat ${heat}: wrong responses, ${JSON.stringify(errors)}.`,
      ),
  ])
}
