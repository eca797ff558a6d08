import { UsageError } from '@startgrid/cli/arguments.ts'
import { formatMinutes } from '@startgrid/cli/duration.ts'
import { ForeseenError } from '@startgrid/cli/foreseen-error.ts'
import { listenForInterruption } from '@startgrid/cli/interruption.ts'
import { createProgress } from '@startgrid/cli/progress.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import { APPS } from '@startgrid/grid/apps.ts'
import { type Nginx, requireNginx } from '@startgrid/nginx/find.ts'
import { FAULTS } from '../faults/index.ts'
import { writePage } from '../report/docs.ts'
import {
  createResult,
  LATEST,
  type Result,
  readResult,
  readUnfinished,
  STORED,
  writeResult,
} from '../report/result.ts'
import { formatCell, formatFaults, formatMatrix } from '../report/terminal.ts'
import { tryFaults } from '../run.ts'
import { smallTable } from '../subject/connection-table.ts'
import { findFaults, HELP, type Options, readOptions } from './options.ts'

/** What all cells together take on two cores, in milliseconds: the first forecast. */
const WHOLE_MS = { short: 8 * 60_000, full: 50 * 60_000 } as const

/** @returns the exit code, as `HELP` lists them */
async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  if (options.help) process.stdout.write(HELP)
  else if (options.list) process.stdout.write(formatFaults(options.faults))
  else if (options.docs && options.size === 'short' && !options.resume) regenerate()
  else return run(options, args)
  return 0
}

async function run(options: Options, args: readonly string[]): Promise<number> {
  const nginx = await requireNginx()
  const result = options.resume ? readUnfinished() : planResult(options, args, nginx)
  if (options.docs && (result.size === 'short' || !isWhole(result)))
    throw new UsageError('The run to resume is not one of pnpm reliability --full: leave out --docs.')
  const progress = createProgress()
  const interruption = listenForInterruption(progress)
  try {
    await tryAll(result, nginx, progress, interruption.signal)
  } finally {
    progress.stop()
  }
  if (result.cells.length > 0) process.stdout.write(formatMatrix(result))
  if (interruption.signal.aborted) {
    process.stderr.write('Interrupted. pnpm reliability --resume goes on.\n')
    return interruption.code()
  }
  writeResult(LATEST, { ...result, finishedAt: new Date().toISOString() })
  if (options.docs) {
    writeResult(STORED, readResult(LATEST))
    regenerate()
  }
  return result.cells.some(({ state }) => state === 'failed') ? 1 : 0
}

function planResult({ size, seed, apps, faults }: Options, args: readonly string[], nginx: Nginx): Result {
  return createResult({
    size,
    seed,
    command: ['pnpm reliability', ...args].join(' '),
    nginx: nginx.describe(),
    faults: faults.map(({ name }) => name),
    apps: apps.map(({ name }) => name),
  })
}

function isWhole({ faults, apps }: Result): boolean {
  return faults.length === FAULTS.length && apps.length === APPS.length
}

/** Fills the result in, and saves it after every cell. */
async function tryAll(
  result: Result,
  nginx: Nginx,
  progress: ReturnType<typeof createProgress>,
  signal: AbortSignal,
): Promise<void> {
  const { size, seed, faults, apps, cells } = result
  const total = faults.length * apps.length
  const share = (total - cells.length) / (FAULTS.length * APPS.length)
  const known = new Set(cells.map(({ fault, app }) => `${fault} ${app}`))
  progress.say(
    `${total - cells.length} cells, about ${formatMinutes(WHOLE_MS[size] * share)} (minutes:seconds).`,
  )
  const warning = size === 'full' ? smallTable() : undefined
  if (warning !== undefined) progress.say(warning)
  progress.begin(WHOLE_MS[size] * share)
  writeResult(LATEST, result)
  await tryFaults({
    faults: findFaults(faults),
    apps: APPS.filter(({ name }) => apps.includes(name)),
    size,
    seed,
    nginx,
    signal,
    isKnown: (fault, app) => known.has(`${fault} ${app}`),
    onCell: (cell) => {
      cells.push(cell)
      writeResult(LATEST, result)
      if (cell.state === 'failed') progress.say(formatCell(cell))
      progress.update(cells.length / total, `${cells.length} of ${total}: ${cell.fault} ${cell.app}`)
    },
  })
}

function regenerate(): void {
  writePage(readResult(STORED))
  process.stderr.write('Made again: the matrix in docs/reliability.md.\n')
}

/** @returns the exit code for what went wrong, told in a sentence; what nobody foresaw keeps its stack */
function explain(error: unknown): number {
  // Without a subclass: what NGINX's finder and the file system say.
  if (error instanceof ForeseenError || (error instanceof Error && error.constructor === Error))
    process.stderr.write(`${oneLine(error)}.\n`)
  else console.error(error)
  return error instanceof UsageError ? 2 : 1
}

const code = await main(process.argv.slice(2)).catch(explain)
process.stdout.write('', () => process.exit(code))
