import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Binary } from '../find/command.ts'
import type { MainOptions } from '../render/render.ts'
import { LOG_FIFO, nginxArguments } from './master.ts'

/** How to start one NGINX. */
export interface Start {
  readonly binary: Binary
  readonly dir: string
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

/** Where a configuration sends its access log to reach standard output: a FIFO, unless the name itself will do. */
export function standardOutput({ dir, contained }: Pick<MainOptions, 'dir' | 'contained'>): string {
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
 * Starts NGINX as a child that ends with this process. Its process id is NGINX's own.
 * @param inherit whether its logs go to this process's standard output, and its errors to `child.stderr`; else its errors go
 *   to `errorLog(dir)`: not to a pipe, because NGINX would wait as soon as this process is too busy to empty it
 *
 * Logs go through this process and not straight to its standard output: Node makes that non-blocking where it is a pipe, for all
 * who share it. When a reader was slow, `cat` ended with EAGAIN, and NGINX waited for ever as soon as the FIFO was full.
 */
export function hold({ binary, dir, cpus }: Start, inherit: boolean): ChildProcess {
  const errors = inherit ? undefined : openSync(errorLog(dir), 'a')
  const stdio: StdioOptions = [
    'ignore',
    ...(inherit ? (['pipe', 'pipe'] as const) : ['ignore' as const, errors]),
    'pipe',
  ]
  const fifo = inherit ? standardOutput({ dir }) : ''
  const pinned = cpus === undefined ? [] : ['taskset', '--cpu-list', cpus]
  const [file = 'sh', ...args] = [
    ...pinned,
    'sh',
    '-c',
    HOLD,
    'sh',
    fifo,
    binary.path,
    ...nginxArguments(dir),
  ]
  // A session of its own: Ctrl+C in the terminal reaches this process, which then stops NGINX in good order.
  const child = spawn(file, args, { stdio, env: { ...process.env, ...binary.env }, detached: true })
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

/** Starts NGINX so that it outlives this process. */
export function leave({ binary, dir }: Pick<Start, 'binary' | 'dir'>): ChildProcess {
  const errors = openSync(errorLog(dir), 'a')
  const env = { ...process.env, ...binary.env }
  const stdio: StdioOptions = ['ignore', 'ignore', errors]
  const child = spawn(binary.path, nginxArguments(dir), { stdio, env, detached: true })
  closeSync(errors)
  child.on('error', () => undefined)
  child.unref()
  return child
}
