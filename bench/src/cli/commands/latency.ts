import { latencyMethod } from '../../openloop/latency.ts'
import { LATENCY_EFFORT } from '../../plan/open-loop-effort.ts'
import { openLoopCommand } from './open-loop.ts'

/** `pnpm bench latency`: percentiles at fixed rates, from the intended send time. One server needs no common rate. @returns the exit code */
export function latencyCommand(args: readonly string[]): Promise<number> {
  return openLoopCommand('latency', args, (result, { profile, rate }) => {
    const effort = LATENCY_EFFORT[profile]
    return latencyMethod(result, { ...effort, common: effort.common && result.mode !== 'target' }, rate)
  })
}
