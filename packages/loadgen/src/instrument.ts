/** What the load generator says against what is true: servers of known behaviour, wrk, and the kernel's account of disturbance. */

import { deepEqual, equal } from 'node:assert/strict'
import { execFile, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { canPin, pin } from '@startgrid/machine/cores.ts'
import { median } from '@startgrid/stats/moments.ts'
import type { LoadPlan } from './plan.ts'
import { percentiles } from './recording.ts'
import { noErrors } from './result.ts'
import { schedstat } from './tally.ts'
import { startTeam } from './team.ts'

/** What is measured, its value, and the range in which that must lie, ends included. */
export function figure(what: string, value: number, least: number, most: number) {
  const isRight = value >= least && value <= most
  const [shown, from, to] = [value, least, most].map((number) => Number(number.toPrecision(4)))
  return { isRight, line: `${isRight ? ' ' : '!'} ${what}: ${shown} (${from} to ${to})` }
}

export interface Check {
  name: string
  /** A trial in which server and generator had no core for longer is disturbed: it decides nothing. */
  calmMs: number
  /** @returns why this machine cannot run it, if that is so
   * @throws {Error} if the generator miscounts, which no disturbance excuses */
  measure(): Promise<{ figures: readonly ReturnType<typeof figure>[]; waitedMs: number } | string>
}

const MOST_TRIALS = 5

/**
 * `pnpm bench check-instrument`: is this generator right on this machine? Prints each check with its figures when it is known.
 * @returns the exit code: 1 if something was measured and is wrong, else 0
 */
export async function checkInstrument(print: (text: string) => void): Promise<number> {
  const states: string[] = []
  for (const check of CHECKS) {
    const { state, lines } = await runCheck(check)
    states.push(state)
    print(`${state.padEnd(10)}${check.name}\n${lines.map((line) => `  ${line}\n`).join('')}`)
  }
  if (states.includes('undecided'))
    print('Undecided: other processes used the cores. Try a quieter machine.\n')
  return states.includes('wrong') ? 1 : 0
}

/**
 * One calm trial is sound, or two are wrong: the kernel does not report a neighbour on the same physical core. Trials that were disturbed
 * leave it undecided.
 */
export async function runCheck({ calmMs, measure }: Check): Promise<{ state: string; lines: string[] }> {
  let lines: string[] = []
  let wrong = 0
  for (let trials = 0; trials < MOST_TRIALS; trials++) {
    const trial = await measure().catch((error: Error) => error)
    if (trial instanceof Error) return { state: 'wrong', lines: [trial.message.split('\n')[0] ?? ''] }
    if (typeof trial === 'string') return { state: 'absent', lines: [trial] }
    lines = trial.figures.map(({ line }) => line)
    if (trial.waitedMs > calmMs) continue
    if (trial.figures.every(({ isRight }) => isRight)) return { state: 'sound', lines }
    if (++wrong === 2) return { state: 'wrong', lines }
  }
  return { state: 'undecided', lines }
}

/**
 * Loads a server from a generator of its own.
 * @returns the load as the generator reports it and as the server saw it, and for how many milliseconds the two had no core
 * @throws {AssertionError} if a response is not reported exactly once, or an error is reported
 */
export async function observe(behaviour: Behaviour, plan: Omit<LoadPlan, 'target' | 'path'>) {
  await using server = await startServer(behaviour)
  const generator = await startTeam([undefined])
  try {
    const pids = [server.pid, ...generator.pids]
    const waited = () => 1e3 * pids.reduce((sum, pid) => sum + schedstat(pid).waited, 0)
    const before = waited()
    const result = await generator.run({ target: server.target, path: '/', timeoutMs: 20_000, ...plan })
    const waitedMs = waited() - before || 0
    const did = await server.did()
    deepEqual(result.errors, noErrors(), 'requests failed')
    equal(result.requests, did.respondedAt.length, 'requests and responses differ in number')
    return { result, did, waitedMs }
  } finally {
    await generator.stop()
  }
}

/** In whole periods of freezes, each point of the period gets about as many arrivals, wherever the load begins. */
const PERIOD_MS = 500
const FROZEN_MS = 200
const PERIODS_MS = 4 * PERIOD_MS

const CHECKS: readonly Check[] = [
  {
    name: "a constant delay of 20 ms is reported as such, and by Little's law 32 connections = rate × mean latency",
    calmMs: 100,
    async measure() {
      const plan = { connections: 32, durationMs: 1_000 }
      const { result, did, waitedMs } = await observe({ delayMs: 20 }, plan)
      const { rate, latency } = result
      // The server responds in the order of the requests. The kernel and the generator may add 4 ms.
      const held = median(did.respondedAt.map((time, n) => time - (did.readAt[n] ?? Number.NaN)))
      const typical = figure('median, ms', latency.p50, held, held + 4)
      const inFlight = figure('in flight', (rate * latency.mean) / 1_000, 31, 33)
      return { figures: [typical, inFlight], waitedMs }
    },
  },
  /*
   * A request that arrives while the server stands still waits for the rest of it: uniformly from 0 to F. So with F out of every T ms frozen,
   * a part x · F/T of all requests waits longer than F · (1 − x). Percentiles move by no more than the part of all requests that is uncertain.
   */
  {
    name: 'a server that stands still for two fifths of the time shows the latencies of theory',
    calmMs: 0.12 * PERIODS_MS,
    async measure() {
      const freeze = { frozenMs: FROZEN_MS, everyMs: PERIOD_MS }
      const plan = { connections: 512, rate: 2_000, seed: 3, durationMs: PERIODS_MS }
      const { result, waitedMs } = await observe({ freeze }, plan)
      // Four standard deviations of the part of so many random arrivals that meets a freeze.
      const uncertain = 4 * Math.sqrt(0.25 / result.requests) + waitedMs / PERIODS_MS
      const theory = (part: number) => Math.max(0, FROZEN_MS - (1 - part) * PERIOD_MS)
      const figures = [50, 70, 80, 90, 99].map((percent) => {
        const [value = Number.NaN] = percentiles(result.histograms.latency, [percent])
        // The kernel, timers and the responses to a backlog take up to 10 ms.
        const least = theory(percent / 100 - uncertain) - 10
        return figure(`p${percent}, ms`, value, least, theory(percent / 100 + uncertain) + 10 + waitedMs)
      })
      return { figures, waitedMs }
    },
  },
  {
    name: 'wrk and this generator measure the same rate of the same server',
    calmMs: 1_500,
    measure: compareWithWrk,
  },
]

/**
 * wrk must measure the same, because the server is the limit. On a shared machine a neighbour may halve either rate, so each rate is divided by
 * the time that the server ran. With its own core the server always runs, and the ratio is that of the rates.
 */
async function compareWithWrk() {
  if (availableParallelism() < 2 || !canPin() || spawnSync('wrk', ['-v']).error !== undefined)
    return 'it needs two cores, taskset and wrk'
  await using server = await startServer({ works: true })
  pin([server.pid], 0)
  const generator = await startTeam([1])
  let waitedMs = 0
  /** The rate while the server ran. */
  const turn = async (load: () => Promise<number>) => {
    const startedAt = performance.now()
    const before = schedstat(server.pid)
    const rate = await load()
    const seconds = (performance.now() - startedAt) / 1e3
    const after = schedstat(server.pid)
    waitedMs += 1e3 * (after.waited - before.waited)
    return (rate * seconds) / (after.ran - before.ran)
  }
  const ours = async () => {
    const load = { target: server.target, path: '/', connections: 32, durationMs: 1_000 }
    const { rate, errors } = await generator.run(load)
    deepEqual(errors, noErrors(), 'requests failed')
    return rate
  }
  const wrks = async () => {
    const args = `-c 1 wrk -t1 -c32 -d1s http://127.0.0.1:${server.target.port}/`.split(' ')
    const { stdout } = await promisify(execFile)('taskset', args)
    return Number(/Requests\/sec:\s*([\d.]+)/.exec(stdout)?.[1])
  }
  try {
    await ours() // The server warms up.
    const ratios: number[] = []
    for (let n = 0; n < 5; n++) {
      // In alternating order, so that a drift favours neither.
      const rates = n % 2 === 0 ? [await turn(ours), await turn(wrks)] : [await turn(wrks), await turn(ours)]
      const [our = 0, its = 0] = n % 2 === 0 ? rates : rates.reverse()
      ratios.push(our / its)
    }
    // Below, this generator is the limit. Above, wrk is: it sleeps between responses, and a server that has to wake its client pays for
    // that, 1 to 11 % by machine (1.00 on an AMD EPYC, 1.044 to 1.065 on an Intel Xeon, both virtual). Ours polls.
    return { figures: [figure('our rate / that of wrk', median(ratios), 0.95, 1.11)], waitedMs }
  } finally {
    await generator.stop()
  }
}

const SERVER = fileURLToPath(new URL(`server-process${extname(import.meta.url)}`, import.meta.url))

/** What a server does with its requests, if not respond at once. */
export interface Behaviour {
  /** The same time for every request, however many there are. */
  delayMs?: number
  /** It stands still at the end of every period. */
  freeze?: { frozenMs: number; everyMs: number }
  /** Computes for about a millisecond. */
  works?: true
}

/** A server's own record of what it did. */
export interface Did {
  /** When each request was read and each response sent: milliseconds of its own clock. */
  readAt: number[]
  respondedAt: number[]
}

/** Starts a server of known behaviour in a process of its own: it shares no event loop with the generator. */
async function startServer(behaviour: Behaviour) {
  const child = fork(SERVER, [JSON.stringify(behaviour)], { execArgv: [] })
  const exited = once(child, 'exit')
  /** Its next message: `port` once, then `did` whenever it is asked. */
  const next = async (): Promise<{ port: number; did: Did }> => {
    const ended = exited.then(() => Promise.reject(new Error(`It has ended: ${child.spawnargs.join(' ')}`)))
    const [message] = await Promise.race([once(child, 'message'), ended])
    return message
  }
  const { port } = await next()
  return {
    target: { host: '127.0.0.1', port },
    pid: child.pid as number,
    /** What it did so far. */
    async did(): Promise<Did> {
      child.send('did')
      return (await next()).did
    },
    async [Symbol.asyncDispose](): Promise<void> {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}
