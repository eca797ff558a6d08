import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, openConnection } from '@startgrid/conformance/http/connection.ts'
import { hasTool, type Launch, NEVER_SHED, type Target } from '@startgrid/grid/launcher.ts'
import { compareSamples, takeSample } from '@startgrid/machine/accounts/sample.ts'
import { cpuSeconds, serverPids } from '@startgrid/machine/processes.ts'
import { LIGHT } from '../clients/clients.ts'
import { statusOf } from '../clients/status.ts'
import type { Fault } from '../fault.ts'
import { filesOf } from '../subject/footprint.ts'

/** How many file descriptors above its highest one the app may use. */
const SPARE = 40

/** How many more clients come than there are descriptors. */
const TOO_MANY = 160

/** Seconds for which all descriptors are taken. */
const SECONDS = { short: 3, full: 15 } as const

/** Part of a core, while the app can only fail to accept connections. */
const MOST_CPU = 0.5

/** 0.75 to 0.83 of a core in Bun 1.4.5; an application cannot prevent it. */
const BUN_NOTE =
  'When Bun cannot accept a connection, it tries again at once, and takes a whole core (oven-sh/bun#32705).'

/** Log lines per second that an app may write about it. */
const MOST_LINES = 10

/** Milliseconds after which a new client is not served any more: only stops a wait for a server that hangs. */
const RECOVERED_MS = 30_000

/** More clients than file descriptors: connected clients are served, the others wait or are refused, and the app recovers afterwards. */
export const fileDescriptors: Fault = {
  name: 'file-descriptors',
  title: 'file descriptors exhausted',
  expected: 'keeps serving what it has, does not spin, recovers',
  atOnce: 4,
  absent: () =>
    hasTool('prlimit') ? undefined : 'The limit of a running process is set with prlimit (util-linux).',
  async run(subject) {
    const launched = await subject.launch({ env: NEVER_SHED })
    const path = LIGHT[subject.app.role]
    const kept = await openConnection(launched.target, { timeoutMs: 30_000, signal: subject.signal })
    const findings: string[] = []
    try {
      await kept.exchange({ target: path })
      const limits = limitFiles(launched)
      const room = Math.max(...limits.map(({ pid, limit }) => limit - filesOf(pid)))
      const crowd = gather(launched.target, room + TOO_MANY)
      const watched = await watch(launched, kept, path, SECONDS[subject.size])
      const isBun = subject.app.runtime === 'bun'
      findings.push(...judgeWatch(watched, isBun))
      // One is libuv's, which it closes to turn a client away.
      if (!limits.some(({ pid, limit }) => filesOf(pid) >= limit - 1))
        findings.push('Some descriptors stayed free: nothing was tried.')
      crowd.leave()
      const recoveredMs = await timeToResponse(launched.target, path)
      if (recoveredMs >= RECOVERED_MS)
        findings.push(`${recoveredMs} ms after the others had left, a new client was not served.`)
      if (launched.child.exitCode !== null) findings.push(`It ended with ${launched.child.exitCode}.`)
      return {
        findings,
        notes: isBun && watched.cpu > MOST_CPU ? [BUN_NOTE] : [],
        figures: { 'cpu %': Math.round(watched.cpu * 100), 'recovered ms': recoveredMs },
      }
    } finally {
      kept.destroy()
    }
  },
}

/**
 * The limit is on their numbers, and not all below the highest one are taken: a shell hands down such as 251.
 * @returns the first number that each process of the app may not use
 */
function limitFiles(launched: Launch): { pid: number; limit: number }[] {
  return (serverPids(launched) ?? []).map((pid) => {
    const limit = Math.max(...readdirSync(`/proc/${pid}/fd`).map(Number)) + SPARE
    const { status, stderr } = spawnSync('prlimit', ['--pid', String(pid), `--nofile=${limit}:${limit}`])
    if (status !== 0) throw new Error(`prlimit failed: ${stderr.toString().trim()}.`)
    return { pid, limit }
  })
}

/** Clients that connect and say nothing; those who are turned away come again at once, as health checks and browsers do. */
function gather(target: Target, clients: number): { leave(): void } {
  const sockets = new Set<Socket>()
  let isOver = false
  const join = () => {
    if (isOver) return
    const socket = connect('port' in target ? target : { path: target.socketPath })
    sockets.add(socket)
    socket
      .on('error', () => {})
      .once('close', () => {
        sockets.delete(socket)
        setTimeout(join, 50)
      })
    socket.resume()
  }
  for (let count = 0; count < clients; count++) join()
  return {
    leave() {
      isOver = true
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** What an app did while it had no descriptors. */
interface Watched {
  /** Part of a core, 0 to 1. */
  readonly cpu: number
  /** Log lines per second. */
  readonly lines: number
  /** Of the requests on a connection that was open before. */
  readonly statuses: readonly number[]
}

/** @param maySpin whether the runtime is known to use a core */
export function judgeWatch({ cpu, lines, statuses }: Watched, maySpin: boolean): string[] {
  const findings: string[] = []
  if (statuses.some((status) => status !== 200))
    findings.push(
      `Without descriptors, requests on an open connection got the status ${[...new Set(statuses)].join(', ')}.`,
    )
  if (cpu > MOST_CPU && !maySpin)
    findings.push(`It used ${Math.round(cpu * 100)} % of a core to fail to accept.`)
  if (lines > MOST_LINES) findings.push(`It said ${Math.round(lines)} lines per second about it.`)
  return findings
}

/** Asks on the connection that was open before, five times per second. */
async function watch(launched: Launch, kept: Connection, path: string, seconds: number): Promise<Watched> {
  await sleep(500) // until they have come
  const pids = serverPids(launched)
  const since = performance.now()
  const ours = { app: pids, proxy: [], generator: [], cores: null }
  const before = takeSample(ours)
  const cpuBefore = cpuSeconds(pids) ?? 0
  const linesBefore = countLines(launched)
  const statuses: number[] = []
  while (performance.now() - since < seconds * 1_000) {
    statuses.push((await kept.exchange({ target: path })).status)
    await sleep(200)
  }
  const elapsed = (performance.now() - since) / 1_000
  // Only the time counts in which others left it a core.
  const waited = Math.min(0.9, compareSamples(before, takeSample(ours)).disturbance.serverWait ?? 0)
  const cpu = ((cpuSeconds(pids) ?? 0) - cpuBefore) / (elapsed * (1 - waited))
  return { cpu, lines: (countLines(launched) - linesBefore) / elapsed, statuses }
}

const countLines = ({ output }: Launch) => output().split('\n').length

/** @returns milliseconds until a new connection is served, at most 30 s */
async function timeToResponse(target: Target, path: string): Promise<number> {
  const since = performance.now()
  while (performance.now() - since < RECOVERED_MS && (await statusOf(target, path)) !== 200) await sleep(50)
  return Math.round(performance.now() - since)
}
