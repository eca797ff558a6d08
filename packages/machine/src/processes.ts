import { readdirSync, readlinkSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuOf, readThreads } from './accounts.ts'
import { readOr, readStat, readText, sumOf } from './proc.ts'

/**
 * What one or several launches started, wherever it went (Linux): their process groups, what has their mark in its environment, and what listens on a
 * port that they were given, such as a daemon without that environment.
 */
export interface Launched {
  groups: readonly number[]
  /** `NAME=value`, or the beginning of that. */
  mark: string
  claims?: readonly Claim[]
}

/** A port that was free when somebody was told to listen there. Who was started before (`startOf`), such as a service manager, is not theirs. */
export interface Claim {
  port: number
  since: number
}

/** Process ids of all that runs; zombies do not. Where there is no /proc, those of the groups' leaders. */
export function findProcesses({ groups, mark, claims = [] }: Launched): number[] {
  if (process.platform !== 'linux')
    return groups.filter((group) => readOr(false, () => process.kill(-group, 0)))
  const found = allPids().filter((pid) => pid !== process.pid && isOf(pid, groups, mark))
  return [...new Set([...found, ...claims.flatMap((claim) => daemonsOf(claim, found))])]
}

function daemonsOf({ port, since }: Claim, known: readonly number[]): number[] {
  const links = new Set(known.flatMap(linksOf))
  const others = listeners().filter(({ place, link }) => place === port && !links.has(link))
  return holdersOf(others)
    .filter((pid) => startOf(pid) >= since)
    .flatMap(processTree)
}

/**
 * SIGTERM to all, and SIGKILL to what is left after `graceMs`; waits until they are gone.
 * @returns whether SIGTERM was enough
 */
export async function endProcesses(launched: Launched, graceMs: number): Promise<boolean> {
  const killAt = performance.now() + graceMs
  /** A daemon closes its port long before it ends. */
  const known = new Map<number, number>()
  const told = new Set<number>()
  let isLate = false
  for (;;) {
    const found = findProcesses(launched)
    for (const pid of found) known.set(pid, startOf(pid))
    const still = [...known].flatMap(([pid, since]) => (isRunning(pid) && startOf(pid) === since ? pid : []))
    const left = new Set([...found, ...still])
    if (left.size === 0) return !isLate
    isLate = performance.now() > killAt
    if (performance.now() > killAt + UNKILLED_MS) return false
    // What is started meanwhile has not been told yet. SIGTERM is said once: some servers take a second one for `at once`.
    for (const pid of [...left].filter((one) => isLate || !told.has(one))) {
      const signal = isLate ? 'SIGKILL' : 'SIGTERM'
      // Elsewhere than on Linux, only the leader of a group is known. It may have ended meanwhile.
      readOr(false, () => process.kill(process.platform === 'linux' ? pid : -pid, signal))
      told.add(pid)
    }
    await sleep(10)
  }
}

/** For so long a process may take to die of SIGKILL. */
const UNKILLED_MS = 10_000

/** When it was started, in ticks since the machine was; NaN if it has ended (field 20 from the state on). */
export function startOf(pid: number): number {
  return Number(readStat(pid)[19])
}

/** Zombies do not run. */
export function isRunning(pid: number): boolean {
  return !isGone(readStat(pid)[0])
}

function isGone(state: string | undefined): boolean {
  return state === undefined || state === 'Z' || state === 'X'
}

/** Not if it has ended, or belongs to somebody else. */
function isOf(pid: number, groups: readonly number[], mark: string): boolean {
  const [state, , group] = readStat(pid)
  if (isGone(state)) return false
  const variables = () => readText(`/proc/${pid}/environ`).split('\0')
  return groups.includes(Number(group)) || variables().some((one) => one.startsWith(mark))
}

/**
 * CPU seconds of the processes so far, all threads. It reads nanosecond accounts, not the 10 ms ticks of /proc/PID/stat.
 * @returns undefined if one of them has ended, because its accounts are gone; like all figures elsewhere than on Linux
 */
export function cpuSeconds(pids: readonly number[]): number | undefined {
  return sumOf(pids, (pid) => {
    const account = readThreads(pid)
    return account && cpuOf(account)
  })
}

/** Highest resident memory of the processes so far, in bytes. Shared pages count once per process. */
export function peakMemory(pids: readonly number[]): number | undefined {
  return sumOf(pids, (pid) => memoryOf(pid, 'VmHWM'))
}

/** Resident memory of the processes now, in bytes. Shared pages count once per process. */
export function currentMemory(pids: readonly number[]): number | undefined {
  return sumOf(pids, (pid) => memoryOf(pid, 'VmRSS'))
}

function memoryOf(pid: number, name: string): number | undefined {
  const status = readText(`/proc/${pid}/status`)
  const [, kB = 0] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status) ?? []
  return status === '' ? undefined : Number(kB) * 1024
}

/** The processes that serve: those that were started. One that started an NGINX (`nginx` is present) does not serve itself. */
export function serverPids({ ready }: { ready: { pid: number; nginx?: unknown } }): number[] {
  return processTree(ready.pid).slice(ready.nginx === undefined ? 0 : 1)
}

/** A process and all below it. */
export function processTree(root: number): number[] {
  const found = [root]
  for (const pid of found) found.push(...childrenOf(pid))
  return found
}

function childrenOf(parent: number): number[] {
  return namesIn(`/proc/${parent}/task`).flatMap((task) =>
    readText(`/proc/${parent}/task/${task}/children`).split(' ').filter(Boolean).map(Number),
  )
}

/** A socket on which somebody listens. */
export interface Listener {
  /** A port, or the path of a unix socket. */
  place: number | string
  /** Empty for a unix socket. */
  address: string
  /** What an open file of /proc/PID/fd points to. */
  link: string
}

/** All that is listened on (Linux). */
export function listeners(): Listener[] {
  const rowsOf = (path: string) =>
    readText(path)
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
  // Local address as hex `address:port` (1), state (3; 0A is listening), inode (9).
  const ports = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap(rowsOf).flatMap((row) => {
    if (row[3] !== '0A') return []
    const [address = '', port = ''] = row[1]?.split(':') ?? []
    const place = Number.parseInt(port, 16)
    return { place, address: addressOf(Buffer.from(address, 'hex').swap32()), link: `socket:[${row[9]}]` }
  })
  // Flags (3; 00010000 is listening), inode (6), path (7).
  const paths = rowsOf('/proc/net/unix').flatMap(([, , , flags, , , inode, place]) =>
    flags === '00010000' && place ? { place, address: '', link: `socket:[${inode}]` } : [],
  )
  return [...ports, ...paths].map((one) => ({ ...one, place: wholePlace(one) }))
}

/** A relative path is one of the process that bound it. */
function wholePlace({ place, link, address }: Listener): number | string {
  if (typeof place === 'number' || /^[/@]/.test(place)) return place
  const [pid] = holdersOf([{ place, link, address }])
  const directory = readOr('/', () => readlinkSync(`/proc/${pid}/cwd`))
  return resolve(directory, place)
}

/** All processes that hold one of these, as far as this user may see. That looks into every process. */
function holdersOf(some: readonly Listener[]): number[] {
  const links = new Set(some.map(({ link }) => link))
  return links.size === 0 ? [] : allPids().filter((pid) => linksOf(pid).some((link) => links.has(link)))
}

/** Those that one of these processes holds. */
export function heldBy(pids: readonly number[], some: readonly Listener[]): Listener[] {
  const links = new Set(pids.flatMap(linksOf))
  return some.filter(({ link }) => links.has(link))
}

/** Who accepts connections to it: as Linux chooses, its own address goes before that of all. */
export function listenersAt(target: { host: string; port: number } | { socketPath: string }): Listener[] {
  const place = 'port' in target ? target.port : target.socketPath
  const here = listeners().filter((one) => one.place === place)
  const host = 'port' in target ? target.host : ''
  const exact = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  const ways = { 4: [exact, '0.0.0.0', '::'], 6: [exact, '::'] }[isIP(exact)] ?? []
  const way = ways.find((one) => here.some(({ address }) => address === one))
  return way === undefined ? here : here.filter(({ address }) => address === way)
}

/** All processes that accept connections to it, as far as this user may see. */
export function listenersOf(target: Parameters<typeof listenersAt>[0]): number[] {
  return holdersOf(listenersAt(target))
}

/** Those of others at a place where one of these processes listens as well, so that each gets some of the connections. */
export function othersAtPlacesOf(pids: readonly number[]): Listener[] {
  const all = listeners()
  const own = new Set(heldBy(pids, all))
  return all.filter((other) => {
    const isAny = (one: Listener, two: Listener) => one.address === ANY[isIP(two.address)]
    const meets = (one: Listener) => one.address === other.address || isAny(one, other) || isAny(other, one)
    return !own.has(other) && [...own].some((one) => one.place === other.place && meets(one))
  })
}

const ANY: Readonly<Record<number, string>> = { 4: '0.0.0.0', 6: '::' }

/** Who that is, for a person: `nginx (process 4711)`. */
export function nameOfHolder(listener: Listener): string {
  const [pid] = holdersOf([listener])
  if (pid === undefined) return 'a program of somebody else'
  return `${readText(`/proc/${pid}/comm`).trim()} (process ${pid})`
}

/** As a person writes it; of IPv4 also where a socket of IPv6 listens for it. */
function addressOf(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  if (bytes.length === 4 || /^0{20}ffff/.test(hex)) return bytes.subarray(-4).join('.')
  return new URL(`http://[${hex.replace(/.{4}(?!$)/g, '$&:')}]`).hostname.slice(1, -1)
}

function linksOf(pid: number): string[] {
  const files = namesIn(`/proc/${pid}/fd`)
  return files.map((fd) => readOr('', () => readlinkSync(`/proc/${pid}/fd/${fd}`)))
}

function namesIn(directory: string): string[] {
  return readOr<string[]>([], () => readdirSync(directory))
}

function allPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger)
}
