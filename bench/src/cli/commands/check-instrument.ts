import { readCommandLine } from '@startgrid/cli/options.ts'
import { checkInstrument } from '@startgrid/loadgen/instrument.ts'
import type { Program } from '../program.ts'

/** Is the load generator right on this machine? @returns the exit code: 1 if it is measurably wrong, else 0 */
export async function checkInstrumentCommand(args: readonly string[], { name }: Program): Promise<number> {
  readCommandLine(args, {}, `${name} check-instrument`)
  return await checkInstrument((text) => process.stdout.write(text))
}
