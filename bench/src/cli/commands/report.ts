import { statSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { readCommandLine } from '@startgrid/cli/options.ts'
import { readResult } from '../../model/result-file.ts'
import { prepareOutput, writeReports } from '../../report/output.ts'
import { commentOf } from '../../report/study/race-comment.ts'
import { REPORT } from '../option-table.ts'
import type { Program } from '../program.ts'
import { openStored, reportOf } from '../stored.ts'

/**
 * `report RESULT`: tables to standard output, and the reports beside the result.
 * @returns the exit code
 * @throws {UsageError} for wrong words, {ResultError} if a file is not a result, {OutputError} where nothing can be written
 */
export async function reportCommand(args: readonly string[], { name, studies }: Program): Promise<number> {
  const { values, positionals } = readCommandLine(args, REPORT, `${name} report`)
  const [path, extra] = positionals
  if (path === undefined || extra !== undefined)
    throw new UsageError(
      `${name} report takes one result, not ${positionals.length}. ${name} report --help shows how.`,
    )
  if (values.comment) return printComment(path)
  const [first, ...others] = openStored(path, studies)
  const directory = prepareOutput(values.output ?? first.directory, undefined)
  for (const { result } of [first, ...others]) {
    await writeReports(result, reportOf(result, { directory, studies }))
  }
  return 0
}

function printComment(path: string): number {
  const isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory()
  process.stdout.write(commentOf(readResult(isDirectory ? join(path, 'result.json') : path)))
  return 0
}
