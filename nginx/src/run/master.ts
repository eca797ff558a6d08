import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '@startgrid/cli/until.ts'

/** A running NGINX. */
export interface Master {
  readonly pid: number
  /** Its directory, with nginx.conf. */
  readonly dir: string
  /** Its program. */
  readonly path: string
}

/** Sends a signal to the master, if it still runs. */
function signalMaster({ pid }: Pick<Master, 'pid'>, signal: NodeJS.Signals): void {
  if (isRunning(pid)) process.kill(pid, signal)
}

/** Arguments that keep NGINX inside `dir`. `-e`: the compiled-in error log may need root before the configuration is read. */
export function nginxArguments(dir: string, config = 'nginx.conf'): string[] {
  return ['-p', dir, '-c', join(dir, config), '-e', 'stderr']
}

/**
 * Ends an NGINX: no new connections, finishes what is in flight, then goes (SIGQUIT). After the deadline the rest is cut off.
 * @param deadlineMs milliseconds
 * @returns whether it ended within the deadline
 */
export async function stopMaster(master: Master, deadlineMs: number): Promise<boolean> {
  signalMaster(master, 'SIGQUIT')
  if (await ended(master, deadlineMs)) return true
  signalMaster(master, 'SIGTERM')
  if (await ended(master, 2_000)) return false
  signalMaster(master, 'SIGKILL')
  await ended(master, 2_000)
  endOrphans(master.pid)
  return false
}

/**
 * Ends the workers that a native master left behind when it was killed: they would go on serving, and hold the port. It was started as
 * the leader of a process group, and its workers stay in that. One that was just forked still has the title of the master.
 */
export function endOrphans(master: number): void {
  for (const { pid, group, title } of processes())
    if (group === master && pid !== master && title.startsWith('nginx: ')) process.kill(pid, 'SIGTERM')
}

function ended({ pid }: Master, limitMs: number): Promise<boolean> {
  const gone = until('NGINX runs on', () => !isRunning(pid), limitMs / 1000).then(() => true)
  return gone.catch(() => false)
}

/** NGINX's last [emerg] line as a sentence for a person. */
export function explainRejection(log: string): string {
  const lines = log.split('\n').filter((line) => line.includes('[emerg]'))
  // NGINX tries five times to bind, then sums up without the address.
  const line = lines.find((text) => text.includes('bind()')) ?? lines.at(-1) ?? log.trim().split('\n').at(-1)
  const reason = line?.replace(/^.*\[emerg\]\s*(?:\d+#\d+:\s*)?/, '').trim() ?? ''
  const bind = /bind\(\) to (\S+) failed \((\d+): ([^)]*)\)/.exec(reason)
  if (bind === null) return `NGINX refuses its configuration: ${reason || 'it gave no reason'}.`
  const [, address = '', number, why = ''] = bind
  return bindRefusal(address, { '98': 'EADDRINUSE', '48': 'EADDRINUSE', '13': 'EACCES' }[number ?? ''], why)
}

/** Why an address cannot be listened on, and what to do. */
export function bindRefusal(address: string, code: string | undefined, why: string): string {
  if (code === 'EADDRINUSE') return `Something else listens on ${address}: stop it, or choose another port.`
  if (code === 'EACCES') return `Listening on ${address} is not allowed: choose a port from 1024.`
  return `NGINX cannot listen on ${address} (${why}): choose another address.`
}

interface Process {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly title: string
}

/** The workers of a master on this machine, containers included (same kernel); empty if it does not run. */
export function workersOf(master: number): Process[] {
  return processes().filter(
    ({ parent, title }) => parent === master && title.startsWith('nginx: worker process'),
  )
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
  const names = PROC ? readdirSync('/proc') : ps(['-axo', 'pid=']).split(/\s+/)
  return names.map((name) => inspect(Number(name))).filter((process) => process !== undefined)
}

const PROC = existsSync('/proc/self/stat')

function inspect(pid: number): Process | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  if (!PROC) return inspectByPs(pid)
  const title = readText(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()
  const stat = readText(`/proc/${pid}/stat`)
  // After the name, which may contain anything but a last `)`: state, parent, process group.
  const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (!state || state === 'Z' || state === 'X') return undefined
  return { pid, parent: Number(parent), group: Number(group), title }
}

function inspectByPs(pid: number): Process | undefined {
  const line = ps(['-o', 'ppid=,pgid=,state=,command=', '-p', String(pid)])
  const [, parent, group, state, title = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/m.exec(line) ?? []
  if (state === undefined || state.startsWith('Z')) return undefined
  return { pid, parent: Number(parent), group: Number(group), title }
}

function ps(args: string[]): string {
  return spawnSync('ps', args, { encoding: 'utf8' }).stdout ?? ''
}

/** The text of a file; empty if there is none. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
