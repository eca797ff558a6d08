import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { createRandom } from '@startgrid/stats/random.ts'
import { poisson } from '../src/loops.ts'

/** What to do with the n-th request of the server, counted from 0. @param head its request line and headers */
export type Handler = (socket: Socket, n: number, head: string) => void

/** A server below HTTP, for responses that no HTTP server would give. */
export class RawServer implements AsyncDisposable {
  /** Requests read so far. */
  requests = 0
  connections = 0
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor(handler: Handler) {
    this.#server = createServer({ noDelay: true }, (socket) => {
      this.connections++
      this.#sockets.add(socket)
      let text = ''
      socket.on('error', () => {})
      socket.on('data', (data) => {
        text += data.toString('latin1')
        for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
          const head = text.slice(0, end)
          text = text.slice(end + 4)
          handler(socket, this.requests++, head)
        }
      })
    })
  }

  async listen(): Promise<this> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    return this
  }

  get port(): number {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('not a TCP server')
    return address.port
  }

  get target(): { host: string; port: number } {
    return { host: '127.0.0.1', port: this.port }
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`
  }

  /** Connections that are open now. */
  open(): Promise<number> {
    return new Promise((resolve) => {
      this.#server.getConnections((_, count) => resolve(count))
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

export function serve(handler: Handler): Promise<RawServer> {
  return new RawServer(handler).listen()
}

/** A response with a content-length. */
export function rawResponse(body: string, { status = '200 OK', headers = '' } = {}): string {
  return `HTTP/1.1 ${status}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

/** Nobody listens on tcpmux. A free port may be another process's a moment later: on a busy machine it was. */
export const CLOSED_PORT = 1

/** How many requests of an open loop are due within so many milliseconds. */
export function dueWithin(durationMs: number, rate: number, seed = 1): number {
  const next = poisson(rate, createRandom(seed))
  let count = 0
  while (next() < durationMs) count++
  return count
}
