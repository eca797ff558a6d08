import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { readMachine } from '@startgrid/machine/machine.ts'
import { formatPoolFigures, type PoolFigures } from '../../pool/figures.ts'
import { overLaunches } from '../../pool/interval.ts'
import { measureLaunches } from '../../pool/launches.ts'
import { measurePool } from '../../pool/measure.ts'
import { POOL_HELP, readPoolOptions } from '../../pool/options.ts'
import { formatPageFigures, type PageFigures, pageRatios } from '../../pool/pages/figures.ts'
import { measurePages } from '../../pool/pages/measure.ts'
import { PAGES_HELP, readPageOptions } from '../../pool/pages/options.ts'

/** Messages per second that a run is expected to make, for the time that is left. */
const EXPECTED_RATE = 20_000

/** Loads of a launch of pages, in process and in the pool. */
const PAGE_LOADS = 6

/**
 * `pnpm bench pool`: messages per second through a pool of workers; `pnpm bench pool pages`: pages rendered in one.
 * @returns the exit code
 * @throws {UsageError} for wrong words, {PoolError} if a launch fails
 */
export async function poolCommand(args: readonly string[]): Promise<number> {
  const [first, ...others] = args
  return first === 'pages' ? measureAllPages(others) : measureAllMessages(args)
}

async function measureAllMessages(args: readonly string[]): Promise<number> {
  const { settings, launches, json, help } = readPoolOptions(args)
  if (help) return print(POOL_HELP)
  const { results, exitCode } = await measureLaunches(
    launches,
    ((launches * settings.messages) / EXPECTED_RATE) * 1000,
    (signal, onProgress) => measurePool(settings, { signal, onProgress }),
  )
  if (results.length === 0) return exitCode
  const rate = overLaunches(results.map((launch) => launch.rate))
  const figures: PoolFigures = { settings, launches: results, rate }
  publish(figures, formatPoolFigures(figures, availableParallelism()), json)
  return exitCode
}

async function measureAllPages(args: readonly string[]): Promise<number> {
  const { settings, launches, json, help } = readPageOptions(args)
  if (help) return print(PAGES_HELP)
  const { results, exitCode } = await measureLaunches(
    launches,
    launches * settings.ms * PAGE_LOADS,
    (signal, onProgress) => measurePages(settings, { signal, onProgress }),
  )
  if (results.length === 0) return exitCode
  const figures: PageFigures = { settings, launches: results, ratios: pageRatios(results) }
  publish(figures, formatPageFigures(figures), json)
  return exitCode
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}

/** @param json a file, `-` for standard output instead of the text, or undefined */
function publish(figures: object, text: string, json: string | undefined): void {
  const record = `${JSON.stringify({ machine: readMachine(), ...figures }, undefined, 2)}\n`
  process.stdout.write(json === '-' ? record : text)
  if (json !== undefined && json !== '-') writeFileSync(json, record)
}
