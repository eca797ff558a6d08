import { UsageError } from '@startgrid/cli/arguments.ts'
import { prepareOutput, publish } from '../../report/output.ts'
import { analyseAgain, openStored, parseStored, reportOf } from '../stored.ts'

const REPORT_HELP = `pnpm bench report RESULT [options]   makes the reports of a result again

RESULT is the directory of a run (bench/results/<time>) or its result.json. What
was measured stays as it is; the figures are worked out again, and reports in
Markdown and HTML are written beside it.

  --output DIR     writes them there instead
  --keep-voided    shows numbers that failed a gate, marked
  --help
`

/**
 * `pnpm bench report RESULT`: tables to standard output, and the reports beside the result.
 * @returns the exit code
 * @throws {UsageError} for wrong words, {ResultError} if a file is not a result, {OutputError} where nothing can be written
 */
export async function reportCommand(args: readonly string[]): Promise<number> {
  const { values, paths } = parseStored(
    args,
    { output: { type: 'string' }, 'keep-voided': { type: 'boolean' }, help: { type: 'boolean' } },
    { command: 'pnpm bench report', count: 1 },
  )
  if (values.help) {
    process.stdout.write(REPORT_HELP)
    return 0
  }
  const keepVoided = values['keep-voided'] === true
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
