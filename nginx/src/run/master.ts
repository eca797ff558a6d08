import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Binary, type Outcome, run } from '../find/command.ts'
import { isRunning, orphansOf, type Worker, workersOf } from './processes.ts'

/** A running NGINX. */
export interface Master {
  readonly pid: number
  /** Its directory, with nginx.conf. */
  readonly dir: string
  readonly binary: Binary
}

/** The FIFO in `dir` by which an access log reaches standard output, where there is one. */
export const LOG_FIFO = 'stdout'

/**
 * Runs `nginx -t`, which opens the log. To open a FIFO without a reader takes for ever; so this process opens it for reading as well.
 * $1: the FIFO
 */
const TEST = 'if [ -p "$1" ]; then exec 4<>"$1"; fi; shift; exec "$@"'

/** `nginx -t` on a file in `dir`. */
export function testConfig({ dir, binary }: Omit<Master, 'pid'>, config: string): Promise<Outcome> {
  const command = [binary.path, '-t', ...nginxArguments(dir, config)]
  return run({ file: 'sh', args: ['-c', TEST, 'sh', join(dir, LOG_FIFO), ...command], env: binary.env })
}

/** Sends a signal to the master, if it still runs. */
export function signalMaster({ pid }: Pick<Master, 'pid'>, signal: NodeJS.Signals): void {
  if (isRunning(pid)) process.kill(pid, signal)
}

/** Arguments that keep NGINX inside `dir`. `-e`: the compiled-in error log may need root before the configuration is read. */
export function nginxArguments(dir: string, config = 'nginx.conf'): string[] {
  return ['-p', dir, '-c', join(dir, config), '-e', 'stderr']
}

/**
 * Puts a configuration into use without dropping a request: the master starts new workers, and the old ones finish what
 * they have before they end. Returns when only new workers take connections.
 * @param errors what the running NGINX has logged lately
 * @throws {Error} one sentence, if NGINX refuses it; the old configuration then stays in use
 */
export async function reloadMaster(master: Master, config: string, errors: () => string): Promise<void> {
  await writeFile(join(master.dir, 'next.conf'), config)
  const { code, stderr } = await testConfig(master, 'next.conf')
  if (code !== 0) throw new Error(explainRejection(stderr))
  await rename(join(master.dir, 'next.conf'), join(master.dir, 'nginx.conf'))
  const workers = Number(/^worker_processes (\d+);$/m.exec(config)?.[1])
  const before = new Set(workersOf(master.pid).map(({ pid }) => pid))
  signalMaster(master, 'SIGHUP')
  const deadline = Date.now() + 10_000
  while (!taken(workersOf(master.pid), before, workers)) {
    if (Date.now() > deadline) {
      throw new Error(`NGINX kept its old configuration after 10 s. ${explainRejection(errors())}`)
    }
    await sleep(20)
  }
}

function taken(now: readonly Worker[], before: ReadonlySet<number>, workers: number): boolean {
  const serving = now.filter(({ leaving }) => !leaving)
  return serving.length === workers && serving.every(({ pid }) => !before.has(pid))
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

/** Ends the workers that a killed master left behind: they would go on serving, and hold the port. */
export function endOrphans(master: number): void {
  for (const pid of orphansOf(master)) process.kill(pid, 'SIGTERM')
}

async function ended(master: Master, limitMs: number): Promise<boolean> {
  const deadline = Date.now() + limitMs
  while (isRunning(master.pid)) {
    if (Date.now() > deadline) return false
    await sleep(20)
  }
  return true
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
