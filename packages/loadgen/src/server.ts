import { fork } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

const CHILD = fileURLToPath(new URL(`server-process${extname(import.meta.url)}`, import.meta.url))

/** What a server does with its requests, if not respond at once. */
export interface Behaviour {
  /** The same time for every request, however many there are. */
  delayMs?: number
  /** It stands still at the end of every period. */
  freeze?: { frozenMs: number; everyMs: number }
  /** Computes for about a millisecond. */
  works?: true
  /** Of five requests, one gets a wrong status, one a wrong body, and one loses its connection. */
  fails?: true
}

/** A server's own record of what it did. */
export interface Did {
  /** When each request was read and each response sent: milliseconds of its own clock. */
  readAt: number[]
  respondedAt: number[]
  faults: { status: number; body: number; reset: number }
}

/**
 * Starts a server of known behaviour in a process of its own: it shares no event loop with the generator.
 * @param cpu the only core that it may use: with `taskset`, so on Linux only
 */
export async function startServer(behaviour: Behaviour, cpu?: number) {
  const pinned = { execPath: 'taskset', execArgv: ['-c', String(cpu), process.execPath] }
  const child = fork(CHILD, [JSON.stringify(behaviour)], cpu === undefined ? { execArgv: [] } : pinned)
  const exited = once(child, 'exit')
  /** Its next message: `port` once, then `did` whenever it is asked. */
  const next = async (): Promise<{ port: number; did: Did }> => {
    const ended = exited.then(() => Promise.reject(new Error(`It has ended: ${child.spawnargs.join(' ')}`)))
    const [message] = await Promise.race([once(child, 'message'), ended])
    return message
  }
  const { port } = await next()
  return {
    target: { host: '127.0.0.1', port },
    pid: child.pid as number,
    /** What it did so far. */
    async did(): Promise<Did> {
      child.send('did')
      return (await next()).did
    },
    async [Symbol.asyncDispose](): Promise<void> {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}
