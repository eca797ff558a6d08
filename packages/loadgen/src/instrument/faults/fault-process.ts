/** Code that all servers in this directory share. Each runs in its own process, started by fault-server.ts. */

import type { Socket } from 'node:net'
import { serve } from './raw-server.ts'

/** A server's own record of what it did. Tests compare the generator's report with it. */
export interface Did {
  /** Connections accepted. */
  connections: number
  /** Requests read, except those that came after the server had ended their connection. */
  requests: number
  /** Complete responses sent, right or wrong. */
  responses: number
  /** Times it did what is built into it. */
  faults: number
  /** When each request was read and each response sent: milliseconds of its own clock. Noted where time is the subject. */
  readAt: number[]
  respondedAt: number[]
}

/** What the parent is told: `port` once, then `did` whenever it sends anything. */
export type FromFault = { port: number } | { did: Did }

export const did: Did = { connections: 0, requests: 0, responses: 0, faults: 0, readAt: [], respondedAt: [] }

/** The settings that the parent chose, or that stand on the command line: `node delay.ts '{"ms":20}'`. */
export function readSettings<Settings>(): Settings {
  return JSON.parse(process.argv[2] ?? '{}') as Settings
}

/** Responds to each request as `handler` does, until the parent is gone. @param handler the n-th request is counted from 1 */
export async function offer(handler: (socket: Socket, n: number) => void): Promise<void> {
  const server = await serve((socket) => {
    if (socket.writableEnded || socket.destroyed) return
    handler(socket, ++did.requests)
  })
  tellParent(server.port, () => {
    did.connections = server.connections
  })
}

/** @param refresh called before each report */
export function tellParent(port: number, refresh: () => void = () => {}): void {
  const tell = (message: FromFault) => process.send?.(message)
  process.on('message', () => {
    refresh()
    tell({ did })
  })
  process.on('disconnect', () => process.exit())
  if (process.send === undefined) console.log(`http://127.0.0.1:${port}/`)
  tell({ port })
}
