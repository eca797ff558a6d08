import type { Cell } from './cell.ts'
import type { Metric } from './figures.ts'
import type { RaceResult } from './result.ts'

/** What people call what is measured. */

/** What a metric is called in a sentence. */
export const METRIC_NAMES: Readonly<Record<Metric, string>> = { rate: 'req/s', cpu: 'CPU per request' }

/** Its title, with what makes it unlike others of that: `njs (qjs)`. */
export function nameOf({ title, engine }: Pick<Cell, 'title' | 'engine'>): string {
  return engine === null ? title : `${title} (${engine.split(' ', 1)[0]})`
}

/** The mode in words: `native processes`, `http://10.0.0.9:3000, which already ran`. */
export function describeServers({ target }: Pick<RaceResult, 'target'>): string {
  return target === null ? 'native processes' : `${target.origin}, which already ran`
}
