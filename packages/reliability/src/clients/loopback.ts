import { once } from 'node:events'
import type { Server } from 'node:net'

/** Listens on a free port of 127.0.0.1. @returns the port */
export async function listenOnLoopback(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address === 'object' && address !== null) return address.port
  throw new Error('It listens, but has no port.')
}
