import { OVERLOAD_EFFORT } from '../../openloop/effort.ts'
import { overloadMethod } from '../../openloop/overload.ts'
import { openLoopCommand } from './open-loop.ts'

/** `pnpm bench overload`: right answers at twice the capacity, and the recovery. @returns the exit code */
export function overloadCommand(args: readonly string[]): Promise<number> {
  return openLoopCommand('overload', args, (result, { profile }) =>
    overloadMethod(result, OVERLOAD_EFFORT[profile]),
  )
}
