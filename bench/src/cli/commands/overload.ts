import { overloadMethod } from '../../openloop/overload.ts'
import { OVERLOAD_EFFORT } from '../../plan/open-loop-effort.ts'
import { openLoopCommand } from './open-loop.ts'

/** `pnpm bench overload`: right answers at twice the capacity, and the recovery. @returns the exit code */
export function overloadCommand(args: readonly string[]): Promise<number> {
  return openLoopCommand('overload', args, (result, { profile }) =>
    overloadMethod(result, OVERLOAD_EFFORT[profile]),
  )
}
