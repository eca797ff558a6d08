import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { oneLine } from '@startgrid/cli/text.ts'
import { cpuSeconds, listenersOf, processTree } from '@startgrid/machine/processes.ts'
import { formatAddress } from '@startgrid/nginx/address.ts'
import type { Figures, ProbeRace } from '../src/result/experiment.ts'

/** The source's own command, run on a system that was just started, as the source ran it: without cores of its own. */
export interface Tool {
  name: 'autocannon' | 'wrk'
  connections: number
  /** Threads of wrk, or workers of autocannon; default 1. */
  threads?: number
  /** Requests under way on one connection, of autocannon; default 1. */
  pipelining?: number
  seconds: number
  /** Before those that count; default 0, as most sources had it. */
  warmupSeconds?: number
  path: string
  /** CPU is a figure, too: that of the processes that listen, so of a server without a proxy. */
  withCpu?: true
}

/** With `--quick`, a third of the time, and so many seconds at most. The tools take whole seconds. */
const QUICK_SECONDS = 3

/**
 * A race of a study whose figures are those that the tool prints.
 * @param ownOf what differs for one system
 */
export function toolRace(
  systems: readonly string[],
  tool: Tool,
  ownOf: (system: string) => Partial<Tool> = () => ({}),
): ProbeRace {
  const { name, warmupSeconds = 0 } = tool
  return {
    systems,
    tool: [name, ...argumentsOf(tool), 'URL'].join(' '),
    expectedMs: (warmupSeconds + tool.seconds) * 1000 + 1500,
    probe: async (system, { quick, signal, start }) => {
      const { target, stop } = await start()
      try {
        if ('socketPath' in target) throw new Error(`${name} does not speak over unix sockets`)
        const own = { ...tool, ...ownOf(system) }
        const run = (whole: number) => {
          const seconds = quick ? Math.min(QUICK_SECONDS, Math.ceil(whole / 3)) : whole
          return runTool({ ...own, seconds }, `http://${formatAddress(target)}${own.path}`, signal)
        }
        if (warmupSeconds > 0) await run(warmupSeconds)
        const pids = own.withCpu ? listenersOf(target).flatMap(processTree) : []
        const before = cpuSeconds(pids)
        const { figures, responses } = await run(tool.seconds)
        const after = cpuSeconds(pids)
        if (!own.withCpu || before === undefined || after === undefined) return figures
        return { ...figures, cpu: (after - before) / responses }
      } finally {
        await stop()
      }
    },
  }
}

function argumentsOf({ name, connections, threads = 1, pipelining = 1, seconds }: Tool): string[] {
  if (name === 'wrk') return [`-t${threads}`, `-c${connections}`, `-d${seconds}s`]
  const more = [
    ...(threads > 1 ? ['-w', `${threads}`] : []),
    ...(pipelining > 1 ? ['-p', `${pipelining}`] : []),
  ]
  return ['-c', `${connections}`, ...more, '-d', `${seconds}`]
}

interface Printed {
  /** Responses per second, and seconds of latency in its closed loop. */
  figures: Figures
  responses: number
}

/**
 * Runs the tool to its end.
 * @throws {Error} a clause: it is not installed, or had errors
 */
export async function runTool(tool: Tool, url: string, signal: AbortSignal): Promise<Printed> {
  const isWrk = tool.name === 'wrk'
  const [program, ...before] = isWrk ? ['wrk'] : [process.execPath, AUTOCANNON, '--json', '--no-progress']
  try {
    const { stdout } = await promisify(execFile)(program, [...before, ...argumentsOf(tool), url], {
      signal,
      maxBuffer: 2 ** 24,
    })
    const printed = isWrk ? readWrk(stdout) : readAutocannon(stdout)
    if (printed.responses === 0) throw new Error(`${tool.name} got no response`)
    return printed
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error(`${tool.name} is not installed`, { cause: error })
  }
}

const AUTOCANNON = fileURLToPath(import.meta.resolve('autocannon'))

/** Of what `autocannon --json` writes; latencies in milliseconds. */
interface AutocannonReport {
  requests: { average: number; p50: number; total: number }
  latency: { average: number; p50: number; p97_5: number; p99: number }
  /** Timeouts among them. */
  errors: number
  timeouts: number
  non2xx: number
}

function readAutocannon(output: string): Printed {
  const line = output.split('\n').find((text) => text.startsWith('{'))
  if (line === undefined) throw new Error(`autocannon ended without a result: ${oneLine(output)}`)
  const { requests, latency, errors, timeouts, non2xx } = JSON.parse(line) as AutocannonReport
  refuseErrors('autocannon', errors - timeouts + non2xx)
  const figures = {
    rate: requests.average,
    'median-rate': requests.p50,
    'mean-latency': latency.average / 1000,
    'median-latency': latency.p50 / 1000,
    'p97.5-latency': latency.p97_5 / 1000,
    'p99-latency': latency.p99 / 1000,
  }
  return { figures, responses: requests.total }
}

function readWrk(output: string): Printed {
  const [, responses] = /^ +(\d+) requests in /m.exec(output) ?? []
  const [, rate] = /^Requests\/sec: +([\d.]+)$/m.exec(output) ?? []
  if (rate === undefined) throw new Error(`wrk ended without a result: ${oneLine(output)}`)
  const [, ...sockets] = /^ +Socket errors: connect (\d+), read (\d+), write (\d+),/m.exec(output) ?? []
  const [, others = '0'] = /^ +Non-2xx or 3xx responses: (\d+)$/m.exec(output) ?? []
  refuseErrors(
    'wrk',
    [...sockets, others].reduce((sum, count) => sum + Number(count), 0),
  )
  return { figures: { rate: Number(rate) }, responses: Number(responses) }
}

/** What failed is not in a rate, which makes a server look faster. Late responses are slow ones, and the source's figures have them too. */
function refuseErrors(name: Tool['name'], count: number): void {
  if (count > 0) throw new Error(`${name} counted ${count.toLocaleString('en-US')} errors`)
}
