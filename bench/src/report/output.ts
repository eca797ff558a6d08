import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { oneLine } from '@startgrid/cli/text.ts'
import type { Study } from '../model/experiment.ts'
import type { Result } from '../model/result.ts'
import { RESULTS, ResultError, writeResult } from '../model/result-file.ts'
import { recordOf, writeStudy } from '../model/study-file.ts'
import type { StudyResult } from '../model/study-result.ts'
import { formatHtml } from './html/page.ts'
import { formatMarkdown } from './markdown.ts'
import { formatStudyBlock } from './study/markdown.ts'
import { formatRace, formatRaceMarkdown } from './study/race-text.ts'
import { formatStudy } from './study/terminal.ts'
import { formatTables, terminalStyle } from './terminal.ts'

/** Where results and reports go. */

/** A place that cannot be written to; the message is a sentence. */
export class OutputError extends Error {
  override name = 'OutputError'
}

/**
 * The directory of a new run, made if absent. Before minutes are spent on measuring it is made sure that it can be written to.
 * @param json one more file, or `-`, or undefined
 * @throws {OutputError}
 */
export function prepareOutput(output: string | undefined, json: string | undefined): string {
  const directory = output === undefined ? `${RESULTS}${timestamp()}` : resolve(output)
  tryToWrite(directory, `Nothing can be written to ${directory}`, '--output')
  if (json === undefined || json === '-') return directory
  if (statSync(json, { throwIfNoEntry: false })?.isDirectory())
    throw new OutputError(`${json} is a directory: give --json the name of a file, or -.`)
  tryToWrite(dirname(resolve(json)), `${json} cannot be written`, '--json')
  return directory
}

/** Permissions alone do not tell: a full or read-only disk has them too. */
function tryToWrite(directory: string, what: string, option: string): void {
  const probe = join(directory, `.${process.pid}.tmp`)
  try {
    mkdirSync(directory, { recursive: true })
    writeFileSync(probe, 'x')
    rmSync(probe)
  } catch (error) {
    throw new OutputError(`${what} (${oneLine(error)}): choose another place with ${option}.`, {
      cause: error,
    })
  }
}

/**
 * Prints a result and writes it with its reports: tables (or, for `--json -`, the result) to standard output. The last line is the path of the report.
 * @param closing sentences before that line
 */
export function publish(
  result: Result,
  directory: string,
  { json, closing = [] }: { json?: string | undefined; closing?: readonly string[] },
): void {
  process.stdout.write(
    json === '-' ? `${JSON.stringify(result)}\n` : formatTables(result, terminalStyle(process.stdout)),
  )
  writeResult(`${directory}/result.json`, result)
  if (json !== undefined && json !== '-') writeResult(json, result)
  for (const sentence of closing) process.stderr.write(`${sentence}\n`)
  writeReports(result, directory)
}

/** report.md and report.html beside a result. */
export function writeReports(result: Result, directory: string): void {
  writeFileSync(`${directory}/report.md`, formatMarkdown(result))
  writeFileSync(`${directory}/report.html`, formatHtml(result))
  process.stderr.write(`Report: ${relative('.', directory) || '.'}/report.html\n`)
}

/**
 * Prints the result of a study (or, for `--json -`, writes it to standard output) and writes its tables. The last line is their path.
 * @param json one more file for the result
 */
export function publishStudy(study: Study, result: StudyResult, directory: string, json?: string): void {
  const record = recordOf(result)
  process.stdout.write(
    json === '-' ? `${JSON.stringify(result)}\n` : formatStudy(study, record, terminalStyle(process.stdout)),
  )
  if (json !== undefined && json !== '-') writeStudy(json, result)
  writeFileSync(`${directory}/${study.name}.md`, formatStudyBlock(study, record))
  process.stderr.write(`Report: ${relative('.', directory) || '.'}/${study.name}.md\n`)
}

/** Prints the result of a race of commands (or, for `--json -`, writes it) and writes its reports. */
export function publishRace(result: StudyResult, directory: string, json?: string): void {
  const record = recordOf(result)
  process.stdout.write(
    json === '-' ? `${JSON.stringify(result)}\n` : formatRace(record, terminalStyle(process.stdout)),
  )
  if (json !== undefined && json !== '-') writeStudy(json, result)
  writeFileSync(`${directory}/report.md`, formatRaceMarkdown(record))
  process.stderr.write(`Report: ${relative('.', directory) || '.'}/report.md\n`)
}

/**
 * Writes figures into a page, between its two marks.
 * @throws {ResultError} if the page has no place for them
 */
export function writeBetween(page: string, marks: { begin: string; end: string }, block: string): void {
  const text = readFileSync(page, 'utf8')
  const [begin, end] = [text.indexOf(marks.begin), text.indexOf(marks.end)]
  if (begin < 0 || end < begin)
    throw new ResultError(
      `${page} has no place for its figures: put ${marks.begin} and ${marks.end} into it.`,
    )
  writeFileSync(page, [text.slice(0, begin) + marks.begin, block, text.slice(end)].join('\n\n'))
}

/** What repeats a run, for a shell. */
export function commandOf(command: string, args: readonly string[], seed: number): string {
  const seeded = args.some((word) => word === '--seed' || word.startsWith('--seed='))
  const words = seeded ? args : [...args, '--seed', String(seed)]
  return [command, ...words.map(quote)].join(' ')
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

function timestamp(): string {
  return new Date().toISOString().slice(0, 19).replaceAll(':', '-')
}
