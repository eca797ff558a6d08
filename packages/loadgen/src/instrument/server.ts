import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

const CHILD = fileURLToPath(new URL(`server-process${extname(import.meta.url)}`, import.meta.url))

/** What a server does with its requests. */
export type Behaviour =
  | { kind: 'at once' }
  /** Computes for about a millisecond. */
  | { kind: 'compute' }
  /** The same time for every request, however many there are. */
  | { kind: 'delay'; ms: number }
  /** At once, but it stands still at the end of every period. */
  | { kind: 'freeze'; frozenMs: number; everyMs: number }
  /** One request after the other, each of which takes the same time: a queue with one server and a known capacity. */
  | { kind: 'queue'; perSecond: number }

/** A server's own record of what it did. */
export interface Did {
  connections: number
  freezes: number
  /** When each request was read and each response sent: milliseconds of its own clock. */
  readAt: number[]
  respondedAt: number[]
}

/** What the parent is told: `port` once, then `did` whenever it sends anything. */
export type FromServer = { port: number } | { did: Did }

/** A server of known behaviour, in a process of its own: it shares no event loop with the generator. */
export class KnownServer implements AsyncDisposable {
  readonly target: { host: string; port: number }
  readonly pid: number
  readonly #child: ChildProcess

  /** Use `startServer`. */
  constructor(child: ChildProcess, pid: number, port: number) {
    this.#child = child
    this.pid = pid
    this.target = { host: '127.0.0.1', port }
  }

  get url(): string {
    return `http://127.0.0.1:${this.target.port}/`
  }

  /** What it did so far. */
  async did(): Promise<Did> {
    this.#child.send('did')
    const message = await next(this.#child)
    if ('did' in message) return message.did
    throw new Error('The server replied out of turn.')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.disconnect()
    await exited
  }
}

/** @param cpu the only core that it may use: with `taskset`, so on Linux only */
export async function startServer(behaviour: Behaviour, cpu?: number): Promise<KnownServer> {
  const pinned = { execPath: 'taskset', execArgv: ['-c', String(cpu), process.execPath] }
  const child = fork(CHILD, [JSON.stringify(behaviour)], cpu === undefined ? { execArgv: [] } : pinned)
  const message = await next(child)
  if (!('port' in message) || child.pid === undefined) throw new Error('The server did not start.')
  return new KnownServer(child, child.pid, message.port)
}

/** The child's next message, or an error if it ends first. */
function next(child: ChildProcess): Promise<FromServer> {
  const { promise, resolve, reject } = Promise.withResolvers<FromServer>()
  const ended = () => reject(new Error(`The server has ended: ${child.spawnargs.join(' ')}`))
  child.once('exit', ended)
  child.once('message', (message) => {
    child.off('exit', ended)
    resolve(message as FromServer)
  })
  return promise
}
