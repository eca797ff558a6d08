import { writeResult } from '../src/results.ts'
import { rateResult } from './fixtures/results.ts'

/** `node write-results.ts FILE`: writes results of different lengths to it over and over, until it is ended. */
const [, , path = ''] = process.argv
const result = rateResult()
for (let seed = 0; ; seed++)
  writeResult(path, { ...result, seed, cells: result.cells.slice(0, 1 + (seed % 42)) })
