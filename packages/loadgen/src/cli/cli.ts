import { writeFileSync } from 'node:fs'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { openConnection } from '@startgrid/wire/client.ts'
import { NoResponse } from '@startgrid/wire/reader.ts'
import { coresFor, startTeam } from '../engine/generator-team.ts'
import { LoadError } from '../engine/load-error.ts'
import type { LoadOptions, LoadPlan } from '../engine/options.ts'
import { runLoad } from '../engine/run-load.ts'
import { resolveTarget } from '../http/target.ts'
import { report, title } from '../report/report.ts'
import { type LoadResult, sumErrors } from '../report/result.ts'
import { helpText, readCommand } from './options.ts'

const EXIT_FAILED = 1
const EXIT_USAGE = 2
const EXIT_INTERRUPTED = 130

/**
 * @param program as a person types it
 * @returns the exit code
 * @throws {LoadError | UsageError} with a sentence
 */
export async function loadCommand(args: readonly string[], program: string): Promise<number> {
  const command = readCommand(args, program)
  if (command === 'help') {
    process.stdout.write(helpText(program))
    return 0
  }
  const { url, plan, processes, json } = command
  const interrupt = new AbortController()
  // Only once: a second Ctrl-C ends the process at once.
  process.once('SIGINT', () => interrupt.abort())
  await findServer(plan)
  if (json !== '-') process.stdout.write(`${title(url, plan)}\n`)
  const result = await offer({ ...plan, signal: interrupt.signal }, processes)
  const { method, connections } = plan
  if (json !== undefined) write(json, `${JSON.stringify({ url, method, connections, ...result })}\n`)
  if (json !== '-') process.stdout.write(`\n${report(result)}`)
  if (interrupt.signal.aborted) return EXIT_INTERRUPTED
  return sumErrors(result.errors) > 0 || result.requests === 0 ? EXIT_FAILED : 0
}

async function offer(load: LoadOptions, processes: number): Promise<LoadResult> {
  if (processes === 1) return runLoad(load)
  const team = await startTeam(coresFor(processes))
  return team.run(load).finally(() => team.stop())
}

/** @throws {LoadError} if nobody accepts a connection, or has a certificate that is not trusted */
async function findServer({ target }: LoadPlan): Promise<void> {
  await resolveTarget(target)
  try {
    const connection = await openConnection(target, { timeoutMs: 5_000 })
    connection.destroy()
  } catch (error) {
    throw error instanceof NoResponse ? new LoadError(error.message) : error
  }
}

function write(file: string, text: string): void {
  try {
    if (file === '-') process.stdout.write(text)
    else writeFileSync(file, text)
  } catch (error) {
    throw new LoadError(`The result cannot be written to ${file}: ${(error as Error).message}.`)
  }
}

if (import.meta.main)
  try {
    process.exitCode = await loadCommand(process.argv.slice(2), 'pnpm load')
  } catch (error) {
    if (!(error instanceof LoadError || error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED
  }
