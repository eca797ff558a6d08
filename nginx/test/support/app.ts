import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

/** A request as an app received it. */
export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: readonly string[]
  readonly body: string
}

/** A bare app that remembers what it was sent. */
export interface App {
  readonly address: { host: string; port: number }
  /** Requests so far, oldest first. */
  readonly seen: Seen[]
  /** Connections so far. */
  connections(): number
  /** Lets the second half of every waiting `/stream` and `/slow` go. */
  release(): void
  close(): Promise<void>
}

/** Starts it on a free port of 127.0.0.1, or on a unix socket. */
export async function startApp(socketPath?: string): Promise<App> {
  const seen: Seen[] = []
  const waiting: (() => void)[] = []
  let connections = 0
  const server = createServer({ keepAliveTimeout: 65_000 }, async (request, response) => {
    const { method = '', url = '', rawHeaders } = request
    seen.push({ method, url, headers: rawHeaders, body: await text(request) })
    if (url === '/app-error')
      return response.writeHead(503, { 'content-type': 'text/plain', 'x-mine': 'yes' }).end('from the app')
    if (url === '/unchanged') return response.writeHead(304, { etag: '"1"' }).end()
    const isStream = url === '/stream'
    if (isStream) response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).write('<first>')
    if (isStream || url === '/slow') await new Promise<void>((resolve) => waiting.push(resolve))
    if (isStream) return response.end('<second>')
    const document = JSON.stringify({ method, url })
    const id = request.headers['x-request-id'] ?? ''
    const length = Buffer.byteLength(document)
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': length,
      'x-request-id': id,
    })
    response.end(document)
  })
  server.on('connection', () => {
    connections++
  })
  server.on('upgrade', ({ headers }, socket) => {
    socket.end(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: ${headers.upgrade}\r\n\r\nhello`,
    )
  })
  server.listen(socketPath === undefined ? { host: '127.0.0.1', port: 0 } : { path: socketPath })
  await once(server, 'listening')
  const address = server.address()
  return {
    address: {
      host: '127.0.0.1',
      port: (address !== null && typeof address === 'object' && address.port) || 0,
    },
    seen,
    connections: () => connections,
    release() {
      for (const go of waiting.splice(0)) go()
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
