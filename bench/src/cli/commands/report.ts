import { UsageError } from '@startgrid/cli/arguments.ts'
import { prepareOutput, publish } from '../../report/output.ts'
import { REPORT } from '../option-table.ts'
import { analyseAgain, openStored, readStored, reportOf } from '../stored.ts'

/**
 * `pnpm bench report RESULT`: tables to standard output, and the reports beside the result.
 * @returns the exit code
 * @throws {UsageError} for wrong words, {ResultError} if a file is not a result, {OutputError} where nothing can be written
 */
export async function reportCommand(args: readonly string[]): Promise<number> {
  const { values, paths } = readStored(args, REPORT, { command: 'pnpm bench report', count: 1 })
  const keepVoided = values['keep-voided']
  const [first, ...others] = openStored(paths[0] ?? '')
  const directory = prepareOutput(values.output ?? first.directory, undefined)
  for (const stored of [first, ...others]) {
    const result = analyseAgain(stored.result, { keepVoided })
    if (keepVoided && result.kind === 'study')
      throw new UsageError('--keep-voided is for results of the grid, and this is a study.')
    publish(result, reportOf(result, directory))
  }
  return 0
}
