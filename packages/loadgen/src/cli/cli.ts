import { writeFileSync } from 'node:fs'
import { UsageError, whyNotTrusted } from '@startgrid/cli/arguments.ts'
import { createProgress } from '@startgrid/cli/progress.ts'
import { plural } from '@startgrid/cli/text.ts'
import { LoadError } from '../engine/load-error.ts'
import type { Progress } from '../engine/options.ts'
import { runLoad } from '../engine/run-load.ts'
import { probe, resolveTarget, secureOptions } from '../http/target.ts'
import { report, title } from '../report/report.ts'
import { type LoadResult, sumErrors } from '../report/result.ts'
import { type Command, readCommand } from './arguments.ts'
import { helpOf } from './help.ts'

const EXIT_FAILED = 1
const EXIT_USAGE = 2
const EXIT_INTERRUPTED = 130

/** @param program as a person types it. @returns the exit code. @throws {LoadError} or UsageError with a sentence */
export async function loadCommand(args: readonly string[], program: string): Promise<number> {
  const command = readCommand(args, program)
  if (command === 'help') {
    process.stdout.write(helpOf(program))
    return 0
  }
  const interrupt = new AbortController()
  // Only once: a second Ctrl-C ends the process at once.
  process.once('SIGINT', () => interrupt.abort())
  const result = await load(command, interrupt.signal)
  print(command, result)
  if (interrupt.signal.aborted) return EXIT_INTERRUPTED
  return sumErrors(result.errors) > 0 || result.requests === 0 ? EXIT_FAILED : 0
}

async function load({ url, plan }: Command, signal: AbortSignal): Promise<LoadResult> {
  const target = await resolveTarget(plan.target)
  const refused = await probe(target, secureOptions(plan.target))
  if (refused !== undefined) {
    const where = 'socketPath' in target ? target.socketPath : url
    throw new LoadError(whyNotTrusted(where, refused) ?? nobody(where, refused))
  }
  if (!process.stderr.isTTY) return runLoad({ ...plan, target, signal })
  const bar = createProgress()
  bar.begin((plan.warmupMs ?? 0) + (plan.durationMs ?? 0))
  try {
    const onProgress = (progress: Progress) => bar.update(progress.done, describe(progress))
    return await runLoad({ ...plan, target, signal, onProgress })
  } finally {
    bar.stop()
  }
}

function describe({ warmingUp, requests, errors }: Progress): string {
  const state = warmingUp ? 'warming up' : plural(requests, 'response')
  return errors > 0 ? `${state}, ${plural(errors, 'error')}` : state
}

function nobody(where: string, { code, message }: NodeJS.ErrnoException): string {
  return `Nobody accepts connections at ${where} (${code ?? message}): start the server first.`
}

function print({ url, plan, json }: Command, result: LoadResult): void {
  const { method, connections } = plan
  const line = `${JSON.stringify({ url, method, connections, ...result })}\n`
  if (json === '-') {
    process.stdout.write(line)
    return
  }
  process.stdout.write(report(title(url, plan), result))
  if (json !== undefined) write(json, line)
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text)
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
