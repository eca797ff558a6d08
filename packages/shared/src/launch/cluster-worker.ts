import { subscribe } from 'node:diagnostics_channel'
import closeWithGrace, {
  type CloseWithGraceAsyncCallback,
  type Options as CloseWithGraceOptions,
} from 'close-with-grace'
import type { Health } from '../http/health.ts'

/** A worker's side of a cluster: its reports to the primary, and its draining. `cluster-process.ts` is the other side. */

/** What a worker tells its primary: its address, or a sentence why it cannot listen; at its end, what it served. */
export type WorkerMessage = { listening: string } | { refused: string } | { served: Served }

/** What the primary tells a worker: to drain, and later that it received the worker's last message. */
export const DRAIN = 'drain'
export const FAREWELL = 'farewell'

export interface Served {
  connections: number
  requests: number
}

/** A terminal sends these to a process group, and systemd to a control group: the primary gets them, and so do its workers. */
export const GROUP_SIGNALS = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const

/** Resolves when the message is sent; the process may end then. */
export function tellPrimary(message: WorkerMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  // An error means that the primary is gone. Then this process ends as well.
  process.send?.(message, undefined, {}, () => resolve())
  return promise
}

/**
 * Reports what was served, and waits for the primary's reply. The primary may have handed over a connection before it learned that the
 * server was closed. Node passes such a connection to another worker, but only while this process is alive.
 */
async function takeLeave(served: Served): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  process.on('message', (message) => {
    if (message === FAREWELL) resolve()
  })
  await tellPrimary({ served })
  await promise
}

/** Counts what this process serves from now on. It uses Node's diagnostics channels, so no app has to change. */
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
 * Tells the primary the address, and does for a worker what `closeWithGrace` does for a single process. A worker drains at the primary's
 * message or at a signal, whichever comes first, and ignores later ones. It may get both at once, so the second must not end the process
 * early. Only the primary decides that.
 */
export function serveInCluster(
  address: string,
  health: Health,
  options: CloseWithGraceOptions,
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
  void tellPrimary({ listening: address })
}
