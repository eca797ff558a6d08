import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** A worker process of an NGINX. */
export interface Worker {
  readonly pid: number
  /** It takes no new connections and ends when it has served what it has. */
  readonly leaving: boolean
}

interface Process {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly title: string
}

/** The workers of a master on this machine, containers included (same kernel); empty if it does not run. */
export function workersOf(master: number): Worker[] {
  return processes()
    .filter(({ parent, title }) => parent === master && title.startsWith('nginx: worker process'))
    .map(({ pid, title }) => ({ pid, leaving: title.includes('shutting down') }))
}

/**
 * The workers that a native master left behind when it was killed. It was started as the leader of a process group, and its
 * workers stay in that. One that was just forked still has the title of the master.
 */
export function orphansOf(master: number): number[] {
  return processes()
    .filter(({ pid, group, title }) => group === master && pid !== master && title.startsWith('nginx: '))
    .map(({ pid }) => pid)
}

/** Whether a process with this id is an NGINX master whose command line names `dir`. Ids are used again: this is not. */
export function isMasterOf(pid: number, dir: string): boolean {
  const { title } = inspect(pid) ?? { title: '' }
  return title.startsWith('nginx: master process') && title.includes(dir)
}

/** Whether a process runs; one that ended and was not waited for yet does not. */
export function isRunning(pid: number): boolean {
  return inspect(pid) !== undefined
}

/** All of them: /proc/PID/task/PID/children may leave some out while others end (proc_pid_task(5)). */
function processes(): Process[] {
  return allIds()
    .map(inspect)
    .filter((process) => process !== undefined)
}

function allIds(): number[] {
  if (!PROC) return (ps(['-axo', 'pid=']) ?? '').trim().split(/\s+/).map(Number)
  return readdirSync('/proc').map(Number).filter(Number.isInteger)
}

const PROC = existsSync('/proc/self/stat')

function inspect(pid: number): Process | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  if (!PROC) return inspectByPs(pid)
  const stat = read(`/proc/${pid}/stat`)
  const title = read(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim()
  // After the name, which may contain anything but a last `)`: state, parent, process group.
  const [state, parent, group] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
  if (title === undefined || state === undefined || state === 'Z' || state === 'X') return undefined
  return { pid, parent: Number(parent), group: Number(group), title }
}

function inspectByPs(pid: number): Process | undefined {
  const line = ps(['-o', 'ppid=,pgid=,state=,command=', '-p', String(pid)]) ?? ''
  const [, parent, group, state, title = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/m.exec(line) ?? []
  if (state === undefined || state.startsWith('Z')) return undefined
  return { pid, parent: Number(parent), group: Number(group), title }
}

function ps(args: string[]): string | undefined {
  try {
    return execFileSync('ps', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return undefined
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
