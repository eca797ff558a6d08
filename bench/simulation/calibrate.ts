import { readResult } from '../src/model/result-file.ts'
import { calibrate } from './calibration.ts'
import { MODEL_PATH, readModel, writeModel } from './model.ts'
import { traceRoles } from './traces.ts'

/**
 * Estimates how launches vary from results of kind `rate`, and writes it to model.json.
 *
 *   node bench/simulation/calibrate.ts FILE…
 */
function main(paths: readonly string[]): void {
  if (paths.length === 0) throw new Error('Give the result.json of one run or more.')
  const results = paths.map(readResult)
  const model = calibrate(results.flatMap(traceRoles), readModel())
  const provenance = results.map(
    ({ startedAt, heats, cells, machine, versions }) =>
      `${startedAt}: ${heats.length} heats of ${cells.length} cells, ${machine.cpu}, Node ${versions.node}.`,
  )
  writeModel({ ...round(model), provenance })
  console.log(`${MODEL_PATH} is written.`)
}

/** Three digits are more than can be known. */
function round<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value), (_, one) =>
    typeof one === 'number' ? Number(one.toPrecision(3)) : one,
  ) as Value
}

main(process.argv.slice(2))
