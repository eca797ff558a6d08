import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Binary } from '../find/binary.ts'
import { type Command, run } from '../find/command.ts'
import { containerCommand, type Mount } from '../find/docker.ts'
import type { Place } from '../render/render.ts'
import { LOG_FIFO, nginxArguments } from './master.ts'

/** How to start one NGINX. */
export interface Start {
  readonly binary: Binary
  readonly dir: string
  /** For a container. */
  readonly name: string
  readonly mounts: readonly Mount[]
  readonly cpus: string | undefined
}

/**
 * Runs "$@" as this process and ends it when file descriptor 3 ends. The parent holds the other end of that pipe and
 * nothing else does: when the parent dies, however it dies, the kernel closes it. That needs nothing of the parent and
 * works on Linux, on macOS and inside a container; a parent death signal (prctl) works only on the first. A line on the
 * pipe means "it has ended already": its id may be another process's by now.
 *
 * $1: a FIFO whose content goes to standard output, or empty. NGINX opens its log by name, and /dev/stdout cannot be
 * opened where standard output is a socket, as it is under Node's `spawn`. The watcher keeps it open for writing: `cat` must not
 * wait for an NGINX that never opens it, because its configuration is refused, say.
 */
const HOLD = `
fifo=$1; shift
if [ -n "$fifo" ]; then mkfifo "$fifo"; exec 4<>"$fifo"; cat <"$fifo" 3<&- 4<&- & fi
(read -r _ <&3 || kill -TERM $$) &
exec "$@" </dev/null 3<&- 4<&-
`

/** Docker passes on standard input, and nothing but that; in a container all processes end with NGINX. */
const HOLD_IN_CONTAINER = `exec 3<&0${HOLD}`

/** Runs "$@" as this process with its errors appended to the file $1. */
const LEAVE = 'log=$1; shift; exec "$@" </dev/null >/dev/null 2>>"$log"'

/** Where a configuration sends its access log to reach standard output: a FIFO, unless the name itself will do. */
export function standardOutput({ dir, contained }: Pick<Place, 'dir' | 'contained'>): string {
  return contained === true ? '/dev/stdout' : join(dir, LOG_FIFO)
}

/** The file with the errors of an NGINX whose logs do not go to this process. */
export function errorLog(dir: string): string {
  return join(dir, 'error.log')
}

/** What is in that file; empty without one. */
export function readErrors(dir: string): string {
  try {
    return readFileSync(errorLog(dir), 'utf8')
  } catch {
    return ''
  }
}

/**
 * Starts NGINX as a child that ends with this process. Its process id is NGINX's own, or that of `docker run`.
 * @param inherit whether its logs go to this process's standard output, and its errors to `child.stderr`; else its errors go
 *   to `errorLog(dir)`: not to a pipe, because NGINX would wait as soon as this process is too busy to empty it
 *
 * Logs go through this process and not straight to its standard output: Node makes that non-blocking where it is a pipe, for all
 * who share it. When a reader was slow, `cat` ended with EAGAIN, and NGINX waited for ever as soon as the FIFO was full.
 */
export function hold(launch: Start, inherit: boolean): ChildProcess {
  const fifo = inherit ? standardOutput(launch) : ''
  const errors = inherit ? undefined : openSync(errorLog(launch.dir), 'a')
  const output: StdioOptions = inherit ? ['pipe', 'pipe'] : ['ignore', errors]
  const child =
    launch.binary.type === 'image'
      ? start(shell(launch, HOLD_IN_CONTAINER, fifo, 'held'), ['pipe', ...output])
      : start(shell(launch, HOLD, fifo, 'held'), ['ignore', ...output, 'pipe'])
  if (errors !== undefined) closeSync(errors)
  child.stdout?.pipe(process.stdout, { end: false })
  return child
}

/** To be called when a held NGINX has ended by itself. */
export function release(child: ChildProcess): void {
  const pipe = child.stdio[3]
  if (pipe === null || pipe === undefined || !('end' in pipe)) return
  // The watcher may be gone as well.
  pipe.on('error', () => undefined)
  pipe.end('\n')
}

/** Starts NGINX so that it outlives this process. @returns its process id, undefined for a container */
export async function leave(launch: Start): Promise<number | undefined> {
  const command = shell(launch, LEAVE, errorLog(launch.dir), 'left')
  if (launch.binary.type === 'image') {
    const { code, stderr } = await run(command, 30_000)
    if (code !== 0) throw new Error(`Docker cannot start NGINX: ${stderr.trim().split('\n')[0] ?? ''}`)
    return undefined
  }
  const errors = openSync(errorLog(launch.dir), 'a')
  const child = start(command, ['ignore', 'ignore', errors])
  closeSync(errors)
  child.on('error', () => undefined)
  child.unref()
  return child.pid
}

function shell(launch: Start, script: string, first: string, mode: 'held' | 'left'): Command {
  const { binary, dir, name, mounts, cpus } = launch
  const sh = (nginx: string) => ['sh', '-c', script, 'sh', first, nginx, ...nginxArguments(dir)]
  if (binary.type === 'image') {
    const pinned = cpus === undefined ? {} : { cpus }
    return containerCommand({ image: binary.image, name, mounts, mode, ...pinned }, sh('nginx'))
  }
  const [file = 'sh', ...args] =
    cpus === undefined ? sh(binary.path) : ['taskset', '--cpu-list', cpus, ...sh(binary.path)]
  return { file, args, env: binary.env }
}

function start(command: Command, stdio: StdioOptions): ChildProcess {
  const env = { ...process.env, ...command.env }
  // A session of its own: Ctrl+C in the terminal reaches this process, which then stops NGINX in good order.
  return spawn(command.file, command.args, { stdio, env, detached: true })
}
