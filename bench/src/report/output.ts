import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import { directoryOfPerson } from '@startgrid/loadgen/request.ts'
import type { Result } from '../result/result.ts'
import { RESULTS, writeResult } from '../result/result-file.ts'
import { formatMarkdown } from './markdown.ts'
import { documentOf } from './report.ts'
import { formatTerminal, terminalStyle } from './terminal.ts'
import { profileFiles } from './why.ts'

/** Where results and reports go. */

/**
 * The directory of a new run. Before minutes are spent on measuring it is made sure that it can be written to.
 * @param json one more file, or `-`, or undefined
 * @param results where it is made if `output` is undefined
 * @throws {UsageError} if that is not so
 */
export function prepareOutput(
  output: string | undefined,
  json: string | undefined,
  results: string = RESULTS,
): string {
  const now = new Date().toISOString().slice(0, 19).replaceAll(':', '-')
  const directory = output === undefined ? join(resolve(results), now) : resolve(directoryOfPerson(), output)
  tryToWrite(directory, `Nothing can be written to ${directory}`, '--output')
  // So that nobody commits them by accident, and no race takes them for changes.
  const ignored = join(resolve(results), '.gitignore')
  if (output === undefined && !existsSync(ignored)) {
    mkdirSync(dirname(ignored), { recursive: true })
    writeFileSync(ignored, '*\n')
  }
  if (json === undefined || json === '-') return directory
  const file = resolve(directoryOfPerson(), json)
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`${json} is a directory: give --json the name of a file, or -.`)
  tryToWrite(dirname(file), `${json} cannot be written`, '--json')
  return directory
}

/**
 * Permissions alone do not tell: a full or read-only disk has them too. What is missing is made when there is something to write, so that a run that
 * fails before leaves nothing.
 */
function tryToWrite(directory: string, what: string, option: string): void {
  let there = directory
  while (!existsSync(there)) there = dirname(there)
  const probe = join(there, `.${process.pid}.tmp`)
  try {
    writeFileSync(probe, 'x')
    rmSync(probe)
  } catch (cause) {
    throw new UsageError(`${what} (${oneLine(cause)}): choose another place with ${option}.`, { cause })
  }
}

/**
 * Writes the reports of a result, and prints its document (or, for `--json -`, the result) to standard output. The last line is the path of the report.
 * @param path of the report's files, without an ending
 * @param json one more file for the result
 * @param closing sentences before the last line
 */
export async function writeReports(
  result: Result,
  path: string,
  { json, closing = [] }: { json?: string | undefined; closing?: readonly string[] } = {},
): Promise<void> {
  // A command that refuses its words needs no page.
  const { formatHtml } = await import('./html/page.ts')
  const document = documentOf(result)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.md`, formatMarkdown(document))
  writeFileSync(`${path}.html`, formatHtml(document))
  for (const [name, text] of profileFiles(result)) writeFileSync(join(dirname(path), name), text)
  if (json !== undefined && json !== '-') writeResult(resolve(directoryOfPerson(), json), result)
  // The files come first: a reader of the terminal may be gone.
  process.stdout.write(
    json === '-' ? `${JSON.stringify(result)}\n` : formatTerminal(document, terminalStyle(process.stdout)),
  )
  for (const sentence of [...closing, `Report: ${relative(directoryOfPerson(), path)}.html`])
    process.stderr.write(`${sentence}\n`)
}

/**
 * What repeats a run, for a shell. Where its files went and the clone is, is nobody's business: a path tells of a person and a machine. From
 * another directory the clone is called as in the README.
 */
export function commandOf(command: string, args: readonly string[], seed: number): string {
  const told = args.filter(
    (word, index) =>
      !/^--(?:output|json)(?:=|$)/.test(word) && !/^--(?:output|json)$/.test(args[index - 1] ?? ''),
  )
  const seeded = told.some((word) => word === '--seed' || word.startsWith('--seed='))
  const words = seeded ? told : [...told, '--seed', String(seed)]
  const isElsewhere = process.env.STARTGRID_DIRECTORY !== undefined
  const program = isElsewhere
    ? `STARTGRID_DIRECTORY="$PWD" ${command.replace(/^pnpm/, 'pnpm --dir ../startgrid')}`
    : command
  return [program, ...words.map(quote)].join(' ')
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
