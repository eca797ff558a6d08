import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { BODY_LIMIT, HEADER_LIMIT } from '#shared/http/contract.ts'
import { SERVER_OPTIONS } from '#shared/http/protect.ts'
import { QUIET_MS } from '#shared/process/drain.ts'
import { Connection, type Handler } from './connection.ts'

/** A header of n bytes is one of at most 2 n as a pair, because of its `HTTP_`; the rest is for what the web server adds. */
const LIMITS = { params: 4 * HEADER_LIMIT, body: BODY_LIMIT }

/** A FastCGI server. */
export interface Responder {
  /** To be told where to listen. */
  readonly server: Server
  /** Stops listening and resolves when every request in flight is answered. */
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
   * As `#shared/drain.ts` does for HTTP: who is active comes once more and is then closed, who is silent is closed after a moment.
   * But FastCGI has no `connection: close`: what a web server sends while its connection is being closed, only another server of its
   * upstream can answer.
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
  // A web server that is gone; 'close' follows.
  socket.on('error', () => {})
  socket.once('close', () => connection.closed())
  // Longer than NGINX keeps an idle connection (60 s).
  socket.setTimeout(SERVER_OPTIONS.keepAliveTimeout, () => {
    if (!connection.isHandling) socket.destroy()
  })
  return connection
}
