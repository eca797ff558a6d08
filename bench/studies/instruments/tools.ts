import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { formatAddress } from '@startgrid/nginx/address.ts'
import { pValue, withComponents } from '@startgrid/stats/estimate.ts'
import { mean, sampleVariance } from '@startgrid/stats/moments.ts'
import { tQuantile } from '@startgrid/stats/student.ts'
import autocannonCompare, { type Compared } from 'autocannon-compare'
import { pinned } from '../../src/drivers/foreign-driver.ts'
import { WrkDriver, wrkVersion } from '../../src/drivers/wrk.ts'
import { type CommandServer, startCommand } from '../../src/environments/command/server.ts'
import type { Command } from '../../src/model/experiment.ts'
import type { Detected } from '../../src/model/heat.ts'
import type { StudyResult } from '../../src/model/result.ts'

/** Four ways to ask whether the second server is slower than the first, all in the same time and on the same cores. */

export interface Asked extends Pick<Parameters<typeof startCommand>[1], 'guard' | 'signal'> {
  /** The first server and the second. */
  commands: readonly [string, string]
  /** Of servers and of what loads them; undefined: they are not kept apart. */
  cores: { server: number; generator: number } | undefined
  /** In milliseconds: until the last server has ended. */
  timeMs: number
}

/** What the tool says: how many times as much the second costs, and how sure that is by each rule. */
export type Said = Pick<Detected, 'estimate' | 'rules'>

export type Tool = (asked: Asked) => Promise<Said>

export const CONNECTIONS = 32

/** So that all has ended in time: starting and stopping a server takes about so many milliseconds. */
const AROUND_MS = 500

const LEVEL = 0.05

/** A ratio and all that is less than a factor away from it. */
const around = (ratio: number, factor: number) => ({ low: ratio / factor, high: ratio * factor })

/** A run, or several, of one server. */
interface Sample {
  mean: number
  deviation: number
  count: number
}

/** Half of the interval of a ratio of means, as a factor: Welch's, to the first order. */
function factorOf(samples: readonly [Sample, Sample], level: number): number {
  const components = samples.map(({ mean: of, deviation, count }) => ({
    variance: (deviation / of) ** 2 / count,
    df: count - 1,
  }))
  const { df, standardError } = withComponents(0, components, samples[0].count + samples[1].count - 2)
  return Math.exp(tQuantile(1 - level / 2, df) * standardError)
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const OWN = join(ROOT, 'bench/src/cli/startgrid.ts')

/** `race`, as its users call it. Where there is no time for a verdict, it has none. */
export const race: Tool = async ({ commands, timeMs, signal }) => {
  const directory = mkdtempSync(join(tmpdir(), 'startgrid-instruments-'))
  const isShort = timeMs < LEAST_RACE_MS
  const words = [
    '--output',
    directory,
    '--connections',
    String(CONNECTIONS),
    ...(isShort ? ['--heats', '3'] : []),
  ]
  try {
    const args = [OWN, 'race', '--max-time', `${timeMs / 1000}s`, ...words, ...commands]
    // 1 says that something was void; the ratio may be there all the same.
    await run([process.execPath, ...args], signal, [0, 1])
    const { analysis } = JSON.parse(readFileSync(join(directory, 'result.json'), 'utf8')) as StudyResult
    const [finding] = analysis?.findings ?? []
    if (!finding?.ratio) throw new Error('race has no finding')
    const { decides, pAdjusted, ratio } = finding
    const { value, low, high } = decides === 'cpu' ? ratio : inverse(ratio)
    const shown = pAdjusted !== null && pAdjusted < LEVEL
    const ends = pAdjusted === null ? { low: null, high: null } : { low, high }
    return { estimate: value, rules: [{ rule: 'p < 0.05', shown, ...ends }] }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** With less, `race` refuses to look for a verdict. */
const LEAST_RACE_MS = 22_000

function inverse({ value, low, high }: { value: number; low: number | null; high: number | null }) {
  return { value: 1 / value, low: high && 1 / high, high: low && 1 / low }
}

/** wrk once on each, one after the other: half of the time each. Nobody computes an interval, so a limit decides. */
export const wrkTwice: Tool = async (asked) => {
  const rates: number[] = []
  for (const command of asked.commands)
    rates.push(await onServer(asked, command, (server) => wrk(asked, server, asked.timeMs / 2 - AROUND_MS)))
  const [first = 0, second = 0] = rates
  const estimate = first / second
  const apart = (limit: number) => {
    const ends = around(estimate, 1 + limit)
    return { rule: `more than ${limit * 100} % apart`, shown: ends.low > 1 || ends.high < 1, ...ends }
  }
  return { estimate, rules: [apart(0.02), apart(0.05)] }
}

/** What a run of Node core's benchmarks takes here; theirs take 5 s and more, and an hour in all. */
const RUN_MS = 1000

/**
 * The method of Node core's benchmark/compare.js: old and new in turn, each run in a fresh process, and the t test of Welch on the rates, as its
 * compare.R has it. One star is p < 0.05.
 */
export const compareJs: Tool = async (asked) => {
  const endsAt = performance.now() + asked.timeMs
  const rates: [number[], number[]] = [[], []]
  while (performance.now() + 2 * (RUN_MS + AROUND_MS) < endsAt || rates[0].length < 2)
    for (const [index, command] of asked.commands.entries())
      rates[index]?.push(await onServer(asked, command, (server) => wrk(asked, server, RUN_MS)))
  return readRates(rates)
}

/** What compare.R says of the rates of two servers. */
export function readRates(rates: readonly [number[], number[]]): Said {
  const samples = rates.map((own) => ({
    ...{ mean: mean(own), deviation: Math.sqrt(sampleVariance(own)), count: own.length },
  })) as [Sample, Sample]
  const [first, second] = samples
  const components = samples.map(({ deviation, count }) => ({
    variance: deviation ** 2 / count,
    df: count - 1,
  }))
  const difference = withComponents(first.mean - second.mean, components, first.count + second.count - 2)
  const estimate = first.mean / second.mean
  const ends = around(estimate, factorOf(samples, LEVEL))
  return { estimate, rules: [{ rule: 'a star (p < 0.05)', shown: pValue(difference) < LEVEL, ...ends }] }
}

/** autocannon takes whole seconds only. */
const WHOLE_MS = 1000

/** autocannon once on each, one after the other, and what autocannon-compare says of the two. */
export const autocannonTwice: Tool = async (asked) => {
  const seconds = Math.floor((asked.timeMs / 2 - AROUND_MS) / WHOLE_MS)
  const runs: AutocannonRun[] = []
  for (const command of asked.commands)
    runs.push(await onServer(asked, command, (server) => autocannon(asked, server, seconds)))
  const [first, second] = runs
  if (first === undefined || second === undefined) throw new Error('there were not two runs')
  return readRuns(first, second)
}

/** What autocannon-compare says of two runs. */
export function readRuns(first: AutocannonRun, second: AutocannonRun): Said {
  const { equal, requests }: Compared = autocannonCompare(first, second)
  const estimate = first.requests.mean / second.requests.mean
  const samplesOf = (of: 'requests' | 'throughput', count: (run: AutocannonRun) => number) =>
    [first, second].map((one) => ({
      ...{ mean: one[of].mean, deviation: one[of].stddev, count: count(one) },
    })) as [Sample, Sample]
  // As the package has it: throughput has a sample for each second, and rates have one for each request.
  const winner = Math.max(
    1.05,
    factorOf(
      samplesOf('throughput', ({ duration }) => duration),
      0.1,
    ),
  )
  const star = factorOf(
    samplesOf('requests', ({ requests: { total } }) => total),
    LEVEL,
  )
  return {
    estimate,
    rules: [
      { rule: 'a winner (5 %)', shown: !equal, ...around(estimate, winner) },
      { rule: 'a star at requests', shown: requests.pValue < LEVEL, ...around(estimate, star) },
    ],
  }
}

/** What `autocannon --json` prints, as far as it is used here. */
interface AutocannonRun
  extends Record<'requests' | 'throughput' | 'latency', { mean: number; stddev: number; total: number }> {
  errors: number
  non2xx: number
  duration: number
}

const AUTOCANNON = createRequire(import.meta.url).resolve('autocannon/autocannon.js')

async function autocannon(
  { cores, signal }: Asked,
  { target }: CommandServer,
  seconds: number,
): Promise<AutocannonRun> {
  if (!('port' in target)) throw new Error('autocannon needs a port')
  const options = ['--json', '--no-progress', '-c', String(CONNECTIONS), '-d', String(seconds)]
  const command = pinned(
    [process.execPath, AUTOCANNON, ...options, `http://${formatAddress(target)}/`],
    cores?.generator,
  )
  const result = JSON.parse(await run(command, signal)) as AutocannonRun
  if (result.errors + result.non2xx > 0) throw new Error('autocannon met errors')
  return result
}

/** @returns what it printed; @throws {Error} with its last line, if it ended with another exit code */
async function run(
  [program, ...args]: readonly [string, ...string[]],
  signal: AbortSignal,
  codes: readonly number[] = [0],
): Promise<string> {
  const child = spawn(program, args, {
    cwd: ROOT,
    signal,
    killSignal: 'SIGINT',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, words, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  if (codes.includes(code)) return output
  throw new Error(`it ended with exit code ${code}: ${words.trim().split('\n').at(-1)}`)
}

/** @returns responses per second */
async function wrk({ cores, signal }: Asked, { target }: CommandServer, durationMs: number): Promise<number> {
  const driver = new WrkDriver(await wrkVersion(), cores?.generator)
  try {
    const load = { target, path: '/', connections: CONNECTIONS, durationMs, signal }
    const { rate, errors } = await driver.run(load)
    signal.throwIfAborted()
    if (Object.keys(errors).length > 0) throw new Error('wrk met errors')
    return rate
  } finally {
    await driver.stop()
  }
}

/** Starts a server, does something with it, and ends it. */
async function onServer<Value>(
  { cores, guard, signal }: Asked,
  line: string,
  use: (server: CommandServer) => Promise<Value>,
): Promise<Value> {
  const command: Command = { command: line, directory: ROOT, ready: { path: '/' }, readyTimeoutMs: 10_000 }
  const cpus = cores && String(cores.server)
  const server = await startCommand(command, { guard, signal, cpus })
  try {
    return await use(server)
  } finally {
    await server.stop()
  }
}
