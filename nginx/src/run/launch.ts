import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { until } from '@startgrid/cli/until.ts'
import { type Address, formatAddress } from '../render/address.ts'
import type { MainOptions } from '../render/render.ts'
import { nginxArguments, readText } from './master.ts'
import type { Setup } from './setup.ts'

/** How to start one NGINX. */
interface Start {
  readonly path: string
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
  return contained === true ? '/dev/stdout' : join(dir, 'stdout')
}

/** The file with the errors of an NGINX whose logs do not go to this process. */
function errorLog(dir: string): string {
  return join(dir, 'error.log')
}

/** What is in that file; empty without one. */
export function readErrors(dir: string): string {
  return readText(errorLog(dir))
}

/**
 * Starts NGINX as a child that ends with this process. Its process id is NGINX's own.
 * @param inherit whether its logs go to this process's standard output, and its errors to `child.stderr`; else its errors go
 *   to `errorLog(dir)`: not to a pipe, because NGINX would wait as soon as this process is too busy to empty it
 *
 * Logs go through this process and not straight to its standard output: Node makes that non-blocking where it is a pipe, for all
 * who share it. When a reader was slow, `cat` ended with EAGAIN, and NGINX waited for ever as soon as the FIFO was full.
 */
export function hold({ path, dir, cpus }: Start, inherit: boolean): ChildProcess {
  const errors = inherit ? undefined : openSync(errorLog(dir), 'a')
  const stdio: StdioOptions = [
    'ignore',
    ...(inherit ? (['pipe', 'pipe'] as const) : ['ignore' as const, errors]),
    'pipe',
  ]
  const fifo = inherit ? standardOutput({ dir }) : ''
  const pinned = cpus === undefined ? [] : ['taskset', '--cpu-list', cpus]
  const [file = 'sh', ...args] = [...pinned, 'sh', '-c', HOLD, 'sh', fifo, path, ...nginxArguments(dir)]
  // A session of its own: Ctrl+C in the terminal reaches this process, which then stops NGINX in good order.
  const child = spawn(file, args, { stdio, detached: true })
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
export function leave({ path, dir }: Pick<Start, 'path' | 'dir'>): ChildProcess {
  const errors = openSync(errorLog(dir), 'a')
  const stdio: StdioOptions = ['ignore', 'ignore', errors]
  const child = spawn(path, nginxArguments(dir), { stdio, detached: true })
  closeSync(errors)
  child.on('error', () => undefined)
  child.unref()
  return child
}

/** Seconds for each step of a start: the pid file, and each address. */
const LIMIT_S = 20

/**
 * Waits until NGINX has written its pid, which it does when it has bound every port, and responds on each of them.
 * @param runs whether the process is still there
 * @throws {Error} if it ended, or one step takes more than 20 s
 */
export async function awaitResponses({ addresses, probe, dir }: Setup, runs: () => boolean): Promise<void> {
  const orEnded = (isDone: boolean) => {
    if (!isDone && !runs()) throw new Error('NGINX ended before it served; its error log has the reason.')
    return isDone
  }
  const hasPid = () => orEnded(readText(join(dir, 'nginx.pid')).trim() !== '')
  await until('NGINX has not started', hasPid, LIMIT_S, 10)
  for (const address of addresses) {
    const isServed = async () => orEnded(await responds(address, probe))
    await until(`NGINX does not respond on ${formatAddress(address)}`, isServed, LIMIT_S, 10)
  }
}

/** Whether something responds: an HTTP response to `probe`, or without one an accepted connection. */
async function responds({ host, port }: Address, probe: string | undefined): Promise<boolean> {
  const socket = connect({ host: reachable(host), port })
  socket.setTimeout(2_000, () => socket.destroy(new Error('it is late')))
  try {
    await once(socket, 'connect')
    if (probe === undefined) return true
    socket.write(`GET ${probe} HTTP/1.0\r\nHost: startgrid\r\n\r\n`)
    await once(socket, 'readable')
    return socket.read() !== null
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** "Every address" is not one to connect to. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}
