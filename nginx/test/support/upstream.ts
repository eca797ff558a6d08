import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

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
  readonly server: Server
  /** Requests so far, oldest first. */
  readonly seen: Seen[]
  /** TCP or unix socket connections so far. */
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
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    void handle(request, response, seen, waiting)
  })
  server.on('connection', () => {
    connections++
  })
  server.listen(socketPath === undefined ? { host: '127.0.0.1', port: 0 } : { path: socketPath })
  await once(server, 'listening')
  return {
    address: { host: '127.0.0.1', port: portOf(server) },
    server,
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

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? (address as AddressInfo).port : 0
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  seen: Seen[],
  waiting: (() => void)[],
): Promise<void> {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  const { method = '', url = '', rawHeaders } = request
  seen.push({ method, url, headers: rawHeaders, body })
  const half = new Promise<void>((resolve) => {
    if (url === '/stream' || url === '/slow') waiting.push(resolve)
    else resolve()
  })
  if (url === '/app-error') {
    response.writeHead(503, { 'content-type': 'text/plain', 'x-mine': 'yes' }).end('from the app')
    return
  }
  if (url === '/unchanged') {
    response.writeHead(304, { etag: '"1"' }).end()
    return
  }
  if (url === '/stream') {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    response.write('<first>')
    await half
    response.end('<second>')
    return
  }
  await half
  const document = JSON.stringify({ method, url })
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(document),
    'x-request-id': inboundId(rawHeaders),
  })
  response.end(document)
}

function inboundId(headers: readonly string[]): string {
  const index = headers.findIndex((name, position) => position % 2 === 0 && /^x-request-id$/i.test(name))
  return headers[index + 1] ?? ''
}
