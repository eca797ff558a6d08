import { readCommandLine } from '@startgrid/cli/options.ts'
import { checkInstrument } from '@startgrid/loadgen/instrument.ts'

/** Is the load generator right on this machine? @returns the exit code: 1 if it is measurably wrong, else 0 */
export async function checkInstrumentCommand(args: readonly string[]): Promise<number> {
  readCommandLine(args, {}, 'pnpm bench check-instrument')
  return await checkInstrument((text) => process.stdout.write(text))
}
