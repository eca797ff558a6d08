import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** What to do with the n-th request of the server, counted from 0. @param head its request line and headers */
export type Handler = (socket: Socket, n: number, head: string) => void

/** A server below HTTP, for responses that no HTTP server would give. */
export async function serve(handler: Handler) {
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    started.connections++
    sockets.add(socket.on('error', () => {}))
    let text = ''
    socket.on('data', (data) => {
      text += data.toString('latin1')
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        const head = text.slice(0, end)
        text = text.slice(end + 4)
        handler(socket, started.requests++, head)
      }
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const started = {
    requests: 0,
    connections: 0,
    target: { host: '127.0.0.1', port },
    url: `http://127.0.0.1:${port}/`,
    /** Connections that are open now. */
    open: () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count))),
    async [Symbol.asyncDispose](): Promise<void> {
      for (const socket of sockets) socket.destroy()
      await once(server.close(), 'close')
    },
  }
  return started
}

/** A response with a content-length. */
export function rawResponse(body: string, { status = '200 OK', headers = '' } = {}): string {
  return `HTTP/1.1 ${status}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

/** Responds at once. */
export const AT_ONCE: Handler = (socket) => socket.write(rawResponse('hi'))

/** Nobody listens on tcpmux. A free port may be another process's a moment later: on a busy machine it was. */
export const CLOSED_PORT = 1
