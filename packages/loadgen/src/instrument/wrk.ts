import { equal } from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { promisify } from 'node:util'
import { type LoadGenerator, startGenerator } from '../engine/generator.ts'
import { sumErrors } from '../report/result.ts'
import { type InstrumentCheck, schedstat } from './check.ts'
import { type FaultServer, startFault } from './faults/fault-server.ts'

/**
 * Compares with wrk. If the server is the limit, both must measure the same. On a shared machine a neighbour may halve either rate, so each
 * rate is divided by the time that the server ran. With its own core the server always runs, and the ratio is that of the rates.
 */

const SERVER_CPU = 0
const GENERATOR_CPU = 1
const CONNECTIONS = 32
const TURN_MS = 1_000
const PAIRS = 5
/** The pairs in which the server ran most are compared. */
const CALMEST = 3

/** What the main thread of a process did, in parts of a turn's time. */
interface Share {
  ran: number
  /** Ready to run, but without a core. */
  waited: number
}

interface Turn {
  rate: number
  server: Share
}

interface Pair {
  wrk: Turn
  own: Turn & { generator: Share }
}

export const wrkCheck: InstrumentCheck = {
  name: 'wrk and this generator measure the same rate of the same server',
  // Rates are corrected for what the kernel counts.
  calmMs: Number.POSITIVE_INFINITY,
  absent: () => {
    if (process.platform !== 'linux' || availableParallelism() < 2) return 'it needs Linux and two cores'
    const absent = ['wrk', 'taskset'].find((program) => spawnSync(program, ['-v']).error !== undefined)
    return absent && `${absent} is not installed`
  },
  async measure() {
    const pairs = await measurePairs()
    const calmest = pairs.toSorted((a, b) => leastRan(b) - leastRan(a)).slice(0, CALMEST)
    const figures = [
      // Below, this generator is the limit. Above, wrk is: it sleeps between responses, and a server that has to wake its client pays
      // for that, 1 to 11 % by machine (1.00 on an AMD EPYC, 1.044 to 1.065 on an Intel Xeon, both virtual). Ours polls.
      { what: 'our rate / that of wrk', value: median(calmest.map(ratio)), least: 0.95, most: 1.11 },
      { what: "the server's time left unused", value: median(calmest.map(unused)), least: -1, most: 0.1 },
    ]
    return { figures, waitedMs: 0 }
  },
}

/** Watches a process during `load`. */
async function watch<T>(pid: number, load: () => Promise<T>): Promise<[T, Share]> {
  const [startedAt, before] = [process.hrtime.bigint(), schedstat(pid)]
  const value = await load()
  const [nanoseconds, after] = [Number(process.hrtime.bigint() - startedAt), schedstat(pid)]
  const part = (name: keyof Share) => (after[name] - before[name]) / nanoseconds
  return [value, { ran: part('ran'), waited: part('waited') }]
}

async function wrkRate({ url }: FaultServer): Promise<number> {
  const wrk = ['wrk', '-t1', `-c${CONNECTIONS}`, `-d${TURN_MS / 1000}s`, url]
  const { stdout } = await promisify(execFile)('taskset', ['-c', String(GENERATOR_CPU), ...wrk])
  return Number(/Requests\/sec:\s*([\d.]+)/.exec(stdout)?.[1])
}

async function ownRate(generator: LoadGenerator, { target }: FaultServer): Promise<number> {
  const load = { target, path: '/', connections: CONNECTIONS, durationMs: TURN_MS }
  const { rate, errors } = await generator.run(load)
  equal(sumErrors(errors), 0, 'requests failed')
  return rate
}

async function wrkTurn(server: FaultServer): Promise<Turn> {
  const [rate, share] = await watch(server.pid, () => wrkRate(server))
  return { rate, server: share }
}

async function ownTurn(generator: LoadGenerator, server: FaultServer): Promise<Pair['own']> {
  const [[rate, share], own] = await watch(generator.pid, () =>
    watch(server.pid, () => ownRate(generator, server)),
  )
  return { rate, server: share, generator: own }
}

/** @param wrkFirst the order of the two turns, so that a drift favours neither */
async function measurePair(generator: LoadGenerator, server: FaultServer, wrkFirst: boolean): Promise<Pair> {
  const first = wrkFirst ? await wrkTurn(server) : undefined
  const own = await ownTurn(generator, server)
  return { wrk: first ?? (await wrkTurn(server)), own }
}

async function measurePairs(): Promise<Pair[]> {
  await using server = await startFault('plain-http', {}, { cpu: SERVER_CPU })
  const generator = await startGenerator({ cpu: GENERATOR_CPU })
  try {
    await ownRate(generator, server) // The server warms up.
    const pairs: Pair[] = []
    for (let n = 0; n < PAIRS; n++) pairs.push(await measurePair(generator, server, n % 2 === 0))
    return pairs
  } finally {
    await generator.stop()
  }
}

/** How calm a pair was: the smaller part of its two turns that the server ran. */
function leastRan({ wrk, own }: Pair): number {
  return Math.min(wrk.server.ran, own.server.ran)
}

function ratio({ wrk, own }: Pair): number {
  return own.rate / own.server.ran / (wrk.rate / wrk.server.ran)
}

/** The part of our turn in which the server had nothing to do although the generator had a core. */
function unused({ own: { server, generator } }: Pair): number {
  return 1 - server.ran - server.waited - generator.waited
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
