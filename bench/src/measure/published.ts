import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Progress } from '@startgrid/cli/progress.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import { LoadError } from '@startgrid/loadgen'
import { formatAddress } from '@startgrid/nginx/address.ts'
import { occurred } from '../drivers/driver.ts'
import { parseWrk } from '../drivers/wrk.ts'
import type { Environment, Server } from '../environments/environment.ts'
import { publishedSeconds, publishedSystems } from '../experiment/study.ts'
import type { Cell } from '../model/cell.ts'
import { type Experiment, isProbe, type PublishedLoad } from '../model/experiment.ts'
import type { PublishedFigures } from '../model/figures.ts'
import type { StudyResult } from '../model/result.ts'

/**
 * `--as-published`: the source's own tool and settings on its systems, one at a time and without any pinning, as the source did it. Its
 * figures are shown beside ours and decide nothing.
 */

interface PublishedRun {
  environment: Pick<Environment, 'start'>
  signal: AbortSignal
  progress: Progress
}

export async function runPublished(
  study: Experiment,
  result: StudyResult,
  { environment, signal, progress }: PublishedRun,
): Promise<PublishedFigures[]> {
  const figures: PublishedFigures[] = []
  for (const load of study.published ?? []) {
    for (const name of publishedSystems(study, load)) {
      const system = study.systems[name]
      const cell = result.cells.find((one) => one.race === load.race && one.system === name)
      if (signal.aborted || system === undefined || cell?.skipped !== null) continue
      progress.update(1, `${study.name} as published: ${system.title}`)
      const seconds = publishedSeconds(load, result.settings.profile === 'quick')
      const race = study.races[load.race]
      const usual = race === undefined || isProbe(race) ? '/' : race.workload.path
      const path = load.path ?? system.workload?.path ?? usual
      const best = await runSystem(load, cell, path, { seconds, environment, signal })
      if (best !== undefined) figures.push(best)
    }
  }
  return figures
}

/** The best of all numbers of connections. @returns undefined after an abort */
async function runSystem(
  load: PublishedLoad,
  cell: Cell,
  path: string,
  { seconds, environment, signal }: { seconds: number } & Omit<PublishedRun, 'progress'>,
): Promise<PublishedFigures | undefined> {
  const { race, tool, threads } = load
  const runs = load.connections.map((connections): ToolRun => ({ tool, connections, threads, seconds }))
  const frame = { race, system: cell.system, tool }
  const [first] = runs
  if (first === undefined) return undefined
  try {
    const servers = await environment.start([cell], { pinned: false })
    try {
      const server = servers.running.get(cell.id)
      if (server === undefined) throw new Error(servers.failures.get(cell.id))
      const tried: PublishedFigures[] = []
      for (const run of runs) {
        const measured = await runTool(run, urlOf(server, path), signal)
        const { connections } = run
        tried.push({ ...frame, command: commandOf(run), connections, ...measured, failure: null })
      }
      return tried.toSorted((one, other) => other.rate - one.rate)[0]
    } finally {
      await servers.stop()
    }
  } catch (error) {
    if (signal.aborted) return undefined
    const nothing = {
      rate: 0,
      latency: { mean: 0, p50: 0, p975: null, p99: 0 },
      medianRate: null,
      errors: {},
    }
    const { connections } = first
    return { ...frame, command: commandOf(first), connections, ...nothing, failure: oneLine(error) }
  }
}

function urlOf({ target }: Server, path: string): string {
  if ('socketPath' in target) throw new Error('The tools of the sources do not speak over unix sockets.')
  return `http://${formatAddress(target)}${path}`
}

/** One run of wrk or autocannon as a person types it. */
export interface ToolRun {
  tool: PublishedLoad['tool']
  connections: number
  threads: number
  seconds: number
}

type ToolFigures = Pick<PublishedFigures, 'rate' | 'latency' | 'medianRate' | 'errors'>

const WRK_SCRIPT = fileURLToPath(new URL('../drivers/wrk.lua', import.meta.url))
const AUTOCANNON = fileURLToPath(import.meta.resolve('autocannon'))

/** The command as the source has it. */
export function commandOf({ tool, connections, threads, seconds }: ToolRun): string {
  if (tool === 'wrk') return `wrk -t${threads} -c${connections} -d${seconds}s URL`
  return `autocannon -c ${connections}${threads > 1 ? ` -w ${threads}` : ''} -d ${seconds} URL`
}

/**
 * Runs the tool to its end.
 * @throws {LoadError} with a sentence, if it is not installed or fails
 */
export async function runTool(run: ToolRun, url: string, signal: AbortSignal): Promise<ToolFigures> {
  const { tool, connections, threads, seconds } = run
  const [file, args] =
    tool === 'wrk'
      ? ['wrk', [`-t${threads}`, `-c${connections}`, `-d${seconds}s`, '-s', WRK_SCRIPT, url]]
      : [process.execPath, [AUTOCANNON, ...autocannonArguments(run), '--json', '--no-progress', url]]
  try {
    const { stdout } = await promisify(execFile)(file, args, { signal, maxBuffer: 2 ** 24 })
    return tool === 'wrk' ? readWrk(stdout, connections) : readAutocannon(stdout)
  } catch (error) {
    if (error instanceof LoadError) throw error
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw new LoadError(missing ? `${tool} is not installed.` : `${tool} failed: ${oneLine(error)}.`)
  }
}

function autocannonArguments({ connections, threads, seconds }: ToolRun): string[] {
  const workers = threads > 1 ? ['-w', String(threads)] : []
  return ['-c', String(connections), '-d', String(seconds), ...workers]
}

function readWrk(output: string, connections: number): ToolFigures {
  const { requests, seconds, latencySeconds, errors } = parseWrk(output, connections)
  return {
    rate: requests / seconds,
    latency: { ...latencySeconds, p975: null },
    medianRate: null,
    errors: occurred(errors),
  }
}

/** Of what `autocannon --json` writes; latencies in milliseconds. */
interface AutocannonReport {
  requests: { average: number; p50: number }
  latency: { average: number; p50: number; p97_5: number; p99: number }
  errors: number
  timeouts: number
  mismatches: number
  non2xx: number
}

function readAutocannon(output: string): ToolFigures {
  const line = output.split('\n').find((text) => text.startsWith('{'))
  if (line === undefined) throw new LoadError('autocannon ended without a result.')
  const { requests, latency, errors, timeouts, mismatches, non2xx } = JSON.parse(line) as AutocannonReport
  const { average, p50, p97_5: p975, p99 } = latency
  return {
    rate: requests.average,
    latency: { mean: average / 1000, p50: p50 / 1000, p975: p975 / 1000, p99: p99 / 1000 },
    medianRate: requests.p50,
    // autocannon counts timeouts among its errors.
    errors: occurred({ errors: errors - timeouts, timeouts, mismatches, 'not 2xx': non2xx }),
  }
}
