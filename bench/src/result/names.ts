import type { Cell } from './cell.ts'
import type { MainMetric } from './figures.ts'

/** What people call what is measured. */

/** What a metric is called in a sentence. */
export const METRIC_NAMES: Readonly<Record<MainMetric, string>> = { rate: 'req/s', cpu: 'CPU per request' }

/** Its title, with what makes it unlike others of that: `njs (qjs)`. */
export function nameOf({ title, engine }: Pick<Cell, 'title' | 'engine'>): string {
  return engine === null ? title : `${title} (${engine.split(' ', 1)[0]})`
}
