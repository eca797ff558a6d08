import { writeResult } from '../src/results.ts'
import { fullCell, fullResult } from './fixture.ts'

/** `node write-results.ts FILE`: writes results of different lengths to it over and over, until it is ended. */
const [, , path = ''] = process.argv
for (let seed = 0; ; seed++) {
  const cells = Array.from({ length: 1 + (seed % 42) }, () => fullCell())
  writeResult(path, { ...fullResult(), seed, cells })
}
