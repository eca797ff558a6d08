import { gunzipSync, gzipSync } from 'node:zlib'
import type { Interval } from '@startgrid/stats/estimate.ts'

/** Where CPU time and memory went in a start that was profiled. Such starts are none of those that are measured. */
export interface ProfiledStart {
  race: string
  system: string
  /** From 1; both systems of a pair have the same. */
  start: number
  /** CPU seconds per request, without a profiler: of threads that were profiled, and of all. */
  cpu: { profiled: number; all: number }
  /** Samples by stack: `packTree`. */
  samples: string
  /** Bytes by stack that were allocated for so many requests; null where V8 does not tell. */
  allocated: { requests: number; bytes: string } | null
}

/**
 * A function in the stack of its callers. `file` begins at the root of its project, or with `node_modules/` or `node:`; it is empty for V8 itself.
 * `count` is of samples or bytes in which it was on top.
 */
export interface Frame {
  name: string
  file: string
  /** From 1. */
  line: number
  /** Its caller's place in the tree, which comes before; −1 without one. */
  parent: number
  count: number
}

export type Tree = readonly Frame[]

/** JSON, gzip, base64. */
export function packTree(tree: Tree): string {
  return gzipSync(JSON.stringify(tree)).toString('base64')
}

export function unpackTree(packed: string): Tree {
  return JSON.parse(gunzipSync(Buffer.from(packed, 'base64')).toString())
}

/** One tree of several: functions with the same names in the same files, called by the same. */
export function mergeTrees(trees: readonly Tree[]): Tree {
  const merged: Frame[] = []
  const places = new Map<string, number>()
  for (const tree of trees) {
    const own: number[] = []
    for (const frame of tree) {
      const parent = own[frame.parent] ?? -1
      const key = `${parent}\n${frame.name}\n${frame.file}`
      const place = places.get(key) ?? merged.push({ ...frame, parent, count: 0 }) - 1
      places.set(key, place)
      own.push(place)
      const known = merged[place]
      if (known !== undefined) known.count += frame.count
    }
  }
  return merged
}

/** CPU seconds or bytes per request of a function, of what it calls of Node or of V8, or of a file or package. */
export interface Part {
  /** `setHeader, called by route`; empty for a file or a package. */
  name: string
  /** `src/cookies.js`, `node_modules/qs/lib/parse.js`; empty for what is no function. */
  file: string
  /** Of a function without a name, after the change. */
  line?: number
  /** Who calls a function without a name, if it is in the same file. */
  caller?: string
  before: number
  after: number
  difference: Interval
  /** Different by Holm, over all functions. */
  isShown: boolean
}

/** Which functions account for the difference of a finding. */
export interface Why {
  race: string
  before: string
  after: string
  /** Pairs of starts that were profiled. */
  starts: number
  /** Of CPU seconds per request, as the race found it; null if that is not known. */
  difference: Interval | null
  /** Where most of it is: a function, or a file or package with its functions; null if none is shown. */
  cause: { part: Part; of: Part[] } | null
  /** Who changes the prototypes of objects, where most of the difference is in no function that is named: that makes many slow at once. */
  suspect: Part | null
  /** What comes next: something that the cause calls, or another function. */
  next: Part | null
  /** They add up to what a request costs in these starts. */
  rows: Part[]
  /** Bytes per request, and the function that most of the difference is in; null where V8 does not tell. */
  allocated: { all: Part; most: Part | null } | null
  /** CPU seconds per request of a sample, by pair of starts. */
  perSample: { before: number; after: number }[]
}
