import { capacityMethod } from '../../openloop/capacity.ts'
import { CAPACITY_EFFORT } from '../../plan/open-loop-effort.ts'
import { openLoopCommand } from './open-loop.ts'

/** `pnpm bench capacity`: the highest open-loop rate that keeps p99 under a bound. @returns the exit code */
export function capacityCommand(args: readonly string[]): Promise<number> {
  return openLoopCommand('capacity', args, (result, { profile }) =>
    capacityMethod(result, CAPACITY_EFFORT[profile]),
  )
}
