import { subscribe } from 'node:diagnostics_channel'
import closeWithGrace, {
  type CloseWithGraceAsyncCallback,
  type Options as CloseWithGraceOptions,
} from 'close-with-grace'
import type { Health } from '../http/health.ts'

/** A worker's side of a cluster: what it tells its primary, and when it drains. `cluster-process.ts` is the other side. */

/** What a worker tells its primary: where it listens, or the sentence why it cannot; at its end, what it served. */
export type WorkerMessage = { listening: string } | { refused: string } | { served: Served }

/** What the primary tells a worker: to drain, and that it has heard the last of it. */
export const DRAIN = 'drain'
export const FAREWELL = 'farewell'

export interface Served {
  connections: number
  requests: number
}

/** These reach a whole process group (a terminal) or control group (systemd): the primary as well as its workers. */
export const GROUP_SIGNALS = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const

/** Resolves when it is sent: the process may end then. */
export function tellPrimary(message: WorkerMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  // An error means that the primary is gone, and this process ends with it.
  process.send?.(message, undefined, {}, () => resolve())
  return promise
}

/**
 * Tells the primary what was served, and waits for its answer: the primary may have handed on a connection before it heard that the
 * server was closed. Node's answer to that has the connection go to another worker, but only if this process still lives to give it.
 */
async function takeLeave(served: Served): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  process.on('message', (message) => {
    if (message === FAREWELL) resolve()
  })
  await tellPrimary({ served })
  await promise
}

/** Counts what this process serves, from now on, through Node's own channels: no app and no answer has to change. */
function countServed(): Served {
  const served = { connections: 0, requests: 0 }
  subscribe('net.server.socket', () => {
    served.connections++
  })
  subscribe('http.server.request.start', () => {
    served.requests++
  })
  return served
}

/**
 * `closeWithGrace` for a worker: it drains when the primary says so or at a signal, whichever comes first and however many come. Where both
 * are told to stop, the second must not count as the impatient one that ends a process at once: that one is the primary's to judge.
 */
export function closeWhenTold(
  options: CloseWithGraceOptions,
  health: Health,
  close: CloseWithGraceAsyncCallback,
): void {
  const served = countServed()
  const grace = closeWithGrace({ ...options, skip: [...GROUP_SIGNALS] }, async (reason) => {
    await close(reason)
    await takeLeave(served)
  })
  const drain = () => {
    if (!health.draining) grace.close()
  }
  for (const signal of GROUP_SIGNALS) process.on(signal, drain)
  process.on('message', (message) => {
    if (message === DRAIN) drain()
  })
}
