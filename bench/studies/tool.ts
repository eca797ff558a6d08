import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { oneLine } from '@startgrid/cli/text.ts'
import { formatAddress } from '@startgrid/nginx/address.ts'
import type { Figures, ProbeRace } from '../src/result/experiment.ts'

/** The source's own command, run on a system that was just started, as the source ran it: without cores of its own. */
export interface Tool {
  name: 'autocannon' | 'wrk'
  connections: number
  /** Threads of wrk, or workers of autocannon; default 1. */
  threads?: number
  seconds: number
  /** What is asked of a system. */
  path: (system: string) => string
}

/** With `--quick`, so many seconds at most. */
const QUICK_SECONDS = 3

/** A race of a study whose rate and latencies are those that the tool prints. */
export function toolRace(systems: readonly string[], tool: Tool): ProbeRace {
  return {
    systems,
    tool: commandOf(tool),
    expectedMs: tool.seconds * 1000 + 1500,
    probe: async (system, { quick, signal, start }) => {
      const { target, stop } = await start()
      try {
        if ('socketPath' in target) throw new Error(`${tool.name} does not speak over unix sockets`)
        const seconds = quick ? Math.min(QUICK_SECONDS, tool.seconds) : tool.seconds
        return await runTool(
          { ...tool, seconds },
          `http://${formatAddress(target)}${tool.path(system)}`,
          signal,
        )
      } finally {
        await stop()
      }
    },
  }
}

/** As a person types it: `autocannon -c 64 -d 5 URL`. */
export function commandOf(tool: Tool): string {
  return [tool.name, ...argumentsOf(tool), 'URL'].join(' ')
}

function argumentsOf({ name, connections, threads = 1, seconds }: Tool): string[] {
  if (name === 'wrk') return [`-t${threads}`, `-c${connections}`, `-d${seconds}s`]
  return ['-c', `${connections}`, ...(threads > 1 ? ['-w', `${threads}`] : []), '-d', `${seconds}`]
}

/**
 * Runs the tool to its end.
 * @returns responses per second, and seconds of latency in its closed loop
 * @throws {Error} a clause: it is not installed, or had errors
 */
export async function runTool(tool: Tool, url: string, signal: AbortSignal): Promise<Figures> {
  const isWrk = tool.name === 'wrk'
  const [program, ...before] = isWrk ? ['wrk'] : [process.execPath, AUTOCANNON, '--json', '--no-progress']
  try {
    const { stdout } = await promisify(execFile)(program, [...before, ...argumentsOf(tool), url], {
      ...{ signal, maxBuffer: 2 ** 24 },
    })
    return isWrk ? readWrk(stdout) : readAutocannon(stdout)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error(`${tool.name} is not installed`, { cause: error })
  }
}

const AUTOCANNON = fileURLToPath(import.meta.resolve('autocannon'))

/** Of what `autocannon --json` writes; latencies in milliseconds. */
interface AutocannonReport {
  requests: { average: number; p50: number }
  latency: { average: number; p50: number; p97_5: number; p99: number }
  /** Timeouts among them. */
  errors: number
  timeouts: number
  non2xx: number
}

function readAutocannon(output: string): Figures {
  const line = output.split('\n').find((text) => text.startsWith('{'))
  if (line === undefined) throw new Error(`autocannon ended without a result: ${oneLine(output)}`)
  const { requests, latency, errors, timeouts, non2xx } = JSON.parse(line) as AutocannonReport
  refuseErrors('autocannon', errors - timeouts + non2xx)
  return {
    rate: requests.average,
    'median-rate': requests.p50,
    'mean-latency': latency.average / 1000,
    'median-latency': latency.p50 / 1000,
    'p97.5-latency': latency.p97_5 / 1000,
    'p99-latency': latency.p99 / 1000,
  }
}

function readWrk(output: string): Figures {
  const [, rate] = /^Requests\/sec: +([\d.]+)$/m.exec(output) ?? []
  if (rate === undefined) throw new Error(`wrk ended without a result: ${oneLine(output)}`)
  const [, ...sockets] = /^ +Socket errors: connect (\d+), read (\d+), write (\d+),/m.exec(output) ?? []
  const [, others = '0'] = /^ +Non-2xx or 3xx responses: (\d+)$/m.exec(output) ?? []
  refuseErrors(
    'wrk',
    [...sockets, others].reduce((sum, count) => sum + Number(count), 0),
  )
  return { rate: Number(rate) }
}

/** What failed is not in a rate, which makes a server look faster. Late responses are slow ones, and the source's figures have them too. */
function refuseErrors(name: Tool['name'], count: number): void {
  if (count > 0) throw new Error(`${name} counted ${count.toLocaleString('en-US')} errors`)
}
