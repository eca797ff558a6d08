import { formatMinutes } from '@startgrid/cli/duration.ts'
import { plural, wrap } from '@startgrid/cli/text.ts'
import { assertResponding } from '../../environments/running/origin.ts'
import { planHeats } from '../../experiment/cells.ts'
import { CAPACITY_EFFORT, LATENCY_EFFORT, OVERLOAD_EFFORT } from '../../experiment/open-loop-effort.ts'
import type { OpenLoopKind, OpenLoopOptions } from '../../experiment/options.ts'
import { createOpenLoopResult } from '../../experiment/result.ts'
import { capacityMethod } from '../../measure/openloop/capacity.ts'
import { latencyMethod } from '../../measure/openloop/latency.ts'
import { overloadMethod } from '../../measure/openloop/overload.ts'
import { expectedOpenLoopMs, type Method } from '../../measure/openloop/session.ts'
import { findRun, pauseOf, type StoredRun } from '../../measure/resume.ts'
import type { OpenLoopResult } from '../../model/result.ts'
import { commandOf, prepareOutput } from '../../report/output.ts'
import { whyOpenLoopFailed } from '../exit-code.ts'
import { readOpenLoopOptions } from '../options.ts'
import { runMeasurement } from '../run-measurement.ts'
import { PROOF_COMES_FIRST } from './grid.ts'

/**
 * `pnpm bench capacity`: the highest open-loop rate that keeps p99 under a bound. `latency`: percentiles at fixed rates, from the intended send
 * time. `overload`: right responses at twice the capacity, and the recovery.
 * @returns the exit code
 */
export async function openLoopCommand(kind: OpenLoopKind, args: readonly string[]): Promise<number> {
  const options = readOpenLoopOptions(kind, args)
  const measure = (stored: StoredRun<OpenLoopKind>, method: Method) =>
    runMeasurement(stored, options, { method }, () => whyOpenLoopFailed(stored.result))
  if (options.resume !== undefined) {
    const found = findRun(options.resume, [kind], 'interrupted')
    found.result.warnings.push(pauseOf(found.result))
    const { profile } = found.result.settings
    const effort = profile === 'custom' || profile === 'full' ? options.profile : profile
    return measure(found, methodOf(found.result, { ...options, profile: effort }))
  }
  const result = createOpenLoopResult(kind, options, commandOf(`pnpm bench ${kind}`, args, options.seed))
  const method = methodOf(result, options)
  if (!options.dryRun) {
    if (options.target !== undefined) await assertResponding(options.target)
    return measure({ result, directory: prepareOutput(options.output, options.json) }, method)
  }
  process.stdout.write(describePlan(result, method))
  return 0
}

/** What is done on each launch. */
export function methodOf(
  result: OpenLoopResult,
  { profile, rate }: Pick<OpenLoopOptions, 'profile' | 'rate'>,
): Method {
  switch (result.kind) {
    case 'capacity':
      return capacityMethod(result, CAPACITY_EFFORT[profile])
    case 'latency': {
      const effort = LATENCY_EFFORT[profile]
      // One server needs no common rate.
      return latencyMethod(result, { ...effort, common: effort.common && result.mode !== 'target' }, rate)
    }
    case 'overload':
      return overloadMethod(result, OVERLOAD_EFFORT[profile])
  }
}

function describePlan({ target, cells, seed }: OpenLoopResult, method: Method): string {
  const time = formatMinutes(expectedOpenLoopMs({ cells, heats: [] }, method))
  if (target !== null)
    return `${wrap(`${cells[0]?.workload} at ${target.origin}, ${plural(method.launches, 'stretch').replace('stretchs', 'stretches')} of load, about ${time} (minutes:seconds). The contract is proven first.`)}\n`
  const first = planHeats(
    cells.map(({ race }) => race),
    1,
    seed,
  )
  return [
    wrap(`${plural(cells.length, 'cell')}, each started ${method.launches} times; one app runs at a time.`),
    wrap(`The first round in this order (seed ${seed}): ${first.map(({ race }) => race).join(', ')}.`),
    wrap(`About ${time} (minutes:seconds), if nobody disturbs it.`),
    wrap(PROOF_COMES_FIRST),
    '',
  ].join('\n')
}
