import { readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuOf, readThreads } from './accounts.ts'
import { readOr, readStat, readText, sumOf } from './proc.ts'

/** What one or several launches started, wherever it went: their process groups, and what has their mark in its environment (Linux). */
export interface Launched {
  groups: readonly number[]
  /** `NAME=value`, or the beginning of that. */
  mark: string
}

/** Process ids of all that runs; zombies do not. Where there is no /proc, those of the groups' leaders. */
export function findProcesses({ groups, mark }: Launched): number[] {
  if (process.platform !== 'linux')
    return groups.filter((group) => readOr(false, () => process.kill(-group, 0)))
  return allPids().filter((pid) => pid !== process.pid && isOf(pid, groups, mark))
}

/**
 * Sends a signal to all and waits until they are gone.
 * @returns whether they are, before the time was over
 */
export async function endProcesses(
  launched: Launched,
  signal: NodeJS.Signals,
  timeoutMs: number,
): Promise<boolean> {
  const until = performance.now() + timeoutMs
  const told = new Set<number>()
  for (;;) {
    const found = findProcesses(launched)
    if (found.length === 0) return true
    if (performance.now() > until) return false
    // What is started meanwhile has not been told yet. SIGTERM is said once: some servers take a second one for `at once`.
    for (const pid of found.filter((one) => signal === 'SIGKILL' || !told.has(one))) {
      // Elsewhere than on Linux, only the leader of a group is known. It may have ended meanwhile.
      readOr(false, () => process.kill(process.platform === 'linux' ? pid : -pid, signal))
      told.add(pid)
    }
    await sleep(10)
  }
}

/** Not if it has ended, or belongs to somebody else. */
function isOf(pid: number, groups: readonly number[], mark: string): boolean {
  const [state, , group] = readStat(pid)
  if (state === undefined || state === 'Z' || state === 'X') return false
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
  return readOr<string[]>([], () => readdirSync(`/proc/${parent}/task`)).flatMap((task) =>
    readText(`/proc/${parent}/task/${task}/children`).split(' ').filter(Boolean).map(Number),
  )
}

/** All processes that hold the listening socket, as far as this user may see. */
export function listenersOf(target: { host: string; port: number } | { socketPath: string }): number[] {
  const place = 'port' in target ? target.port : target.socketPath
  const socket = listeningSockets().find((one) => one.place === place)
  return socket === undefined ? [] : allPids().filter((pid) => linksOf(pid).includes(socket.link))
}

/** The TCP ports and unix sockets on which these processes listen (Linux). */
export function listeningPlaces(pids: readonly number[]): (number | string)[] {
  const links = new Set(pids.flatMap(linksOf))
  return [...new Set(listeningSockets().flatMap(({ place, link }) => (links.has(link) ? place : [])))]
}

/** All that is listened on: a port or a path, and what an open file of /proc/PID/fd points to. */
function listeningSockets(): { place: number | string; link: string }[] {
  const rowsOf = (path: string) =>
    readText(path)
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
  // Local address as hex `address:port` (1), state (3; 0A is listening), inode (9).
  const ports = ['/proc/net/tcp', '/proc/net/tcp6']
    .flatMap(rowsOf)
    .filter((row) => row[3] === '0A')
    .map((row) => ({
      place: Number.parseInt(row[1]?.split(':').at(-1) ?? '', 16),
      link: `socket:[${row[9]}]`,
    }))
  // Flags (3; 00010000 is listening), inode (6), path (7).
  const paths = rowsOf('/proc/net/unix').flatMap(([, , , flags, , , inode, place]) =>
    flags === '00010000' && place !== undefined ? { place, link: `socket:[${inode}]` } : [],
  )
  return [...ports, ...paths]
}

function linksOf(pid: number): string[] {
  const files = `/proc/${pid}/fd`
  return readOr<string[]>([], () => readdirSync(files)).map((fd) =>
    readOr('', () => readlinkSync(`${files}/${fd}`)),
  )
}

function allPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger)
}
