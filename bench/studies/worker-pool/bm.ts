// @ts-expect-error: it has no types
import { benchmark } from 'qoper8-cp/benchmark'

/**
 * `node bm.ts WORKERS MESSAGES` or `bun bm.ts WORKERS MESSAGES`: the source's bm.mjs. Its delays were found by hand, from 100 ms for two workers to
 * 12 ms for 24. With one that is too short for all pools the queue is never empty, and the tool makes it longer by itself.
 */
const [poolSize = 0, maxMessages = 0] = process.argv.slice(2).map(Number)
benchmark({ poolSize, maxMessages, blockLength: 2000, delay: 10 })
