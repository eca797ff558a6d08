import { writeFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UnknownName } from '@startgrid/grid/matrix.ts'
import { LoadError } from '@startgrid/loadgen'
import { cellName, createCells } from './cell.ts'
import { HELP, type Options, readOptions, UsageError } from './options.ts'
import { createProgress } from './progress.ts'
import { formatMarkdown, formatTables } from './report.ts'
import { type Result, writeResult } from './results.ts'
import { runBench } from './run.ts'

const RESULTS = fileURLToPath(new URL('../results/', import.meta.url))

/** @returns the exit code: 0 if every cell has its number, 1 if one is void, 2 for wrong words, 130 after Ctrl-C */
async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  if (options.help) process.stdout.write(HELP)
  else if (options.list) listCells(options)
  else
    return measure(
      options,
      ['pnpm bench', ...args, ...(args.includes('--seed') ? [] : ['--seed', options.seed])].join(' '),
    )
  return 0
}

function listCells({ apps, topologies }: Options): void {
  for (const cell of createCells(apps, topologies)) process.stdout.write(`${cellName(cell)}\n`)
}

async function measure(options: Options, command: string): Promise<number> {
  const directory = options.output ? resolve(options.output) : `${RESULTS}${timestamp()}`
  const interruption = new AbortController()
  const onInterrupt = () => interruption.abort()
  process.once('SIGINT', onInterrupt).once('SIGTERM', onInterrupt)
  const progress = createProgress()
  const save = (result: Result) => writeResult(`${directory}/result.json`, result)
  let result: Result
  try {
    result = await runBench(options, command, progress, save, interruption.signal)
  } finally {
    progress.stop()
    process.off('SIGINT', onInterrupt).off('SIGTERM', onInterrupt)
  }
  publish(result, directory, options.json)
  if (interruption.signal.aborted) {
    process.stderr.write('Interrupted: what was measured before is above and in the files.\n')
    return 130
  }
  return result.cells.some((cell) => cell.voided) ? 1 : 0
}

function publish(result: Result, directory: string, json: string | undefined): void {
  writeFileSync(`${directory}/report.md`, formatMarkdown(result))
  if (json === '-') {
    process.stdout.write(`${JSON.stringify(result)}\n`)
    return
  }
  if (json !== undefined) writeResult(json, result)
  process.stdout.write(`${formatTables(result)}\n`)
  process.stdout.write(`Written: ${relative('.', directory)}/result.json and report.md\n`)
}

function timestamp(): string {
  return new Date().toISOString().slice(0, 19).replaceAll(':', '-')
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (error instanceof UsageError || error instanceof UnknownName) process.exitCode = 2
  else if (error instanceof LoadError) process.exitCode = 1
  else throw error
  process.stderr.write(`${error.message}\n`)
}
