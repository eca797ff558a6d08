import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { oneLine } from '@startgrid/cli/text.ts'
import { LoadError } from '@startgrid/loadgen'
import { parseWrk } from '../drivers/wrk-report.ts'
import type { PublishedLoad } from '../model/experiment.ts'
import type { PublishedFigures } from '../model/figures.ts'

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
    errors: happened(errors),
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
    errors: happened({ errors: errors - timeouts, timeouts, mismatches, 'not 2xx': non2xx }),
  }
}

function happened(errors: Readonly<Record<string, number | undefined>>): Record<string, number> {
  return Object.fromEntries(Object.entries(errors).flatMap(([kind, count]) => (count ? [[kind, count]] : [])))
}
