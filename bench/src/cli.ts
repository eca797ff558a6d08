import { writeFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UnknownName } from '@startgrid/grid/matrix.ts'
import { cellName, createCells } from './cell.ts'
import { HELP, type Options, readOptions, UsageError } from './options.ts'
import { OutputError, prepareOutput } from './output.ts'
import { createProgress, type Progress } from './progress.ts'
import { formatMarkdown, formatTables } from './report.ts'
import { type Result, writeResult } from './results.ts'
import { runBench } from './run.ts'
import { oneLine } from './text.ts'

const RESULTS = fileURLToPath(new URL('../results/', import.meta.url))

/** Terminals and package managers both pass on a Ctrl-C: what follows this soon, in milliseconds, is the same one. */
const SAME_INTERRUPTION_MS = 500

/**
 * @returns the exit code: 0 if every cell that this machine can measure has its number, 1 if one is void, 2 for wrong words,
 * 130 after Ctrl-C, 143 after SIGTERM
 */
async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  if (options.help) process.stdout.write(HELP)
  else if (options.list) listCells(options)
  else return measure(options, args)
  return 0
}

function listCells({ apps, topologies }: Options): void {
  for (const cell of createCells(apps, topologies)) process.stdout.write(`${cellName(cell)}\n`)
}

async function measure(options: Options, args: readonly string[]): Promise<number> {
  const directory = options.output ? resolve(options.output) : `${RESULTS}${timestamp()}`
  prepareOutput(directory, options.json)
  const progress = createProgress()
  const { signal, code } = listenForInterruption(progress)
  const save = (result: Result) => writeResult(`${directory}/result.json`, result)
  const command = commandOf(args, options.seed)
  const result = await runBench(options, command, { progress, save, signal }).finally(progress.stop)
  publish(result, directory, options.json)
  if (signal.aborted) {
    process.stderr.write('Interrupted: what was measured before is above and in the files.\n')
    return code()
  }
  return result.cells.some((cell) => cell.voided && !cell.skipped) ? 1 : 0
}

/** The first signal asks for an orderly end, the second is obeyed at once: children end with this process. */
function listenForInterruption(progress: Progress): { signal: AbortSignal; code(): number } {
  const interruption = new AbortController()
  let at = 0
  let code = 0
  const onSignal = (name: NodeJS.Signals) => {
    if (interruption.signal.aborted) {
      if (performance.now() - at < SAME_INTERRUPTION_MS) return
      progress.stop()
      process.exit(code)
    }
    at = performance.now()
    code = name === 'SIGINT' ? 130 : 143
    progress.say('Stopping the servers. Ctrl-C once more ends at once.')
    interruption.abort()
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  return { signal: interruption.signal, code: () => code }
}

function publish(result: Result, directory: string, json: string | undefined): void {
  const text = json === '-' ? JSON.stringify(result) : formatTables(result)
  process.stdout.write(`${text}\n`)
  writeResult(`${directory}/result.json`, result)
  writeFileSync(`${directory}/report.md`, formatMarkdown(result))
  if (json !== undefined && json !== '-') writeResult(json, result)
  process.stderr.write(`Written: ${relative('.', directory)}/result.json and report.md\n`)
}

/** What repeats the run, for a shell. */
function commandOf(args: readonly string[], seed: number): string {
  const seeded = args.some((word) => word === '--seed' || word.startsWith('--seed='))
  const words = seeded ? args : [...args, '--seed', String(seed)]
  return ['pnpm bench', ...words.map(quote)].join(' ')
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

function timestamp(): string {
  return new Date().toISOString().slice(0, 19).replaceAll(':', '-')
}

/** @returns the exit code for what went wrong, told in a sentence; what nobody foresaw keeps its stack */
function explain(error: unknown): number {
  const foreseen = error instanceof OutputError || error instanceof UsageError || error instanceof UnknownName
  if (foreseen || isSystemError(error)) process.stderr.write(`${oneLine(error)}.\n`)
  else console.error(error)
  return error instanceof UsageError || error instanceof UnknownName ? 2 : 1
}

/** A disk that became full or read-only during the run. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}

// Whoever reads only the beginning of the output has what they want.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

const code = await main(process.argv.slice(2)).catch(explain)
// Something that was interrupted may still run, such as a download.
process.stdout.write('', () => process.exit(code))
