import { basename, dirname, join, resolve } from 'node:path'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { readCommandLine } from '@startgrid/cli/options.ts'
import { directoryOfPerson } from '@startgrid/loadgen/request.ts'
import { analyse } from '../../judge/analysis.ts'
import { prepareOutput, writeReports } from '../../report/output.ts'
import { commentOf } from '../../report/report.ts'
import type { Result } from '../../result/result.ts'
import { openResults } from '../../result/result-file.ts'
import { REPORT } from '../options.ts'
import type { Program } from '../program.ts'

/**
 * `report RESULT`: tables to standard output, and the reports beside the result.
 * @returns the exit code
 * @throws {UsageError} for wrong words, or where nothing can be written, {ResultError} if a file is not a result
 */
export async function reportCommand(args: readonly string[], { name }: Program): Promise<number> {
  const { values, positionals } = readCommandLine(args, REPORT, `${name} report`)
  const [path, extra] = positionals
  if (path === undefined || extra !== undefined)
    throw new UsageError(
      `${name} report takes one result, not ${positionals.length}. ${name} report --help shows how.`,
    )
  const results = openResults(resolve(directoryOfPerson(), path)).map((one) => ({
    ...one,
    result: current(one.result),
  }))
  if (values.comment) {
    for (const { result } of results) process.stdout.write(commentOf(result))
    return 0
  }
  for (const { result, file } of results) {
    const directory = prepareOutput(values.output ?? dirname(file), undefined)
    await writeReports(result, join(directory, basename(file, '.json').replace(/^result$/, 'report')))
  }
  return 0
}

/** A race of commands from before 28 November 2026 has findings without a verdict: they are worked out again from what was measured. */
function current(result: Result): Result {
  const isOld = result.analysis?.findings.some((one) => !('whole' in one)) ?? false
  return isOld ? { ...result, analysis: analyse(result.experiment, result) } : result
}
