import type { LoadPlan } from './options.ts'
import type { LoadResult } from './result.ts'

/** What the parent tells the child, one JSON text per line. The end of the stream ends the child. */
export type ToChild = { run: LoadPlan } | { abort: true }

/** What the child answers, one JSON text per line: `ready` once, then one line per load. */
export type FromChild = { ready: true } | { result: LoadResult } | { error: string }
