import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { BODY_LIMIT, HEADER_LIMIT } from '#shared/http/contract.ts'
import { IDLE_MS } from '#shared/http/handler-timeout.ts'
import { QUIET_MS } from '#shared/process/drain.ts'
import { Connection, type Handler } from './connection.ts'

/** A header of n bytes is one of at most 2 n as a pair, because of its `HTTP_`; the rest is for what the web server adds. */
const LIMITS = { params: 4 * HEADER_LIMIT, body: BODY_LIMIT }

/** A FastCGI server. */
interface Responder {
  /** To be told where to listen. */
  readonly server: Server
  /** Stops listening, and resolves when all responses in flight are complete. */
  drain(): Promise<void>
}

export function createResponder(handler: Handler): Responder {
  const connections = new Set<Connection>()
  const server = createServer({ noDelay: true }, (socket) => {
    const connection = serve(socket, handler)
    connections.add(connection)
    socket.once('close', () => connections.delete(connection))
  })

  /**
   * Works like `#shared/process/drain.ts`: active connections get one more request, silent ones are closed after a moment. But FastCGI
   * has no `connection: close`. A request that is sent while its connection closes needs another server of the upstream.
   */
  async function drain(): Promise<void> {
    const closed = once(server, 'close')
    server.close()
    for (const connection of connections) connection.drain()
    await Promise.race([closed, sleep(QUIET_MS)])
    for (const connection of connections) connection.endIfIdle()
    await closed
  }

  return { server, drain }
}

function serve(socket: Socket, handler: Handler): Connection {
  const connection = new Connection(socket, handler, LIMITS)
  socket.on('data', (chunk: Buffer) => connection.push(chunk))
  socket.on('drain', () => socket.resume())
  // The web server has left; 'close' follows.
  socket.on('error', () => {})
  socket.once('close', () => connection.closed())
  // Longer than NGINX keeps an idle connection (60 s).
  socket.setTimeout(IDLE_MS, () => {
    if (!connection.isHandling) socket.destroy()
  })
  return connection
}
