import type { Socket } from 'node:net'
import { whyNotTrusted } from '@startgrid/cli/arguments.ts'
import { methodOf, type Request, requestBytes } from './request.ts'
import { type Head, type HttpResponse, readBody, readHead } from './response.ts'
import { ByteSource, NoResponse } from './source.ts'
import { authority, connect, describeTls, formatTarget, type Target } from './target.ts'

/** Time limits, and a signal to stop waiting. */
export interface Patience {
  /** Milliseconds for the connection, and again for each response. */
  timeoutMs: number
  /** Another number for the connection. */
  connectMs?: number
  signal?: AbortSignal | undefined
}

/**
 * Connects.
 * @throws {NoResponse} if nobody listens there
 */
export async function openConnection(
  target: Target,
  { timeoutMs, connectMs = timeoutMs, signal }: Patience,
): Promise<Connection> {
  if (signal?.aborted) throw new NoResponse('aborted', 'the run was stopped')
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect(target, resolve)
  const place = formatTarget(target)
  socket.once('error', (error) =>
    reject(
      new NoResponse(
        'refused',
        whyNotTrusted(place, error) ?? `Nothing listens at ${place} (${error.message}).`,
      ),
    ),
  )
  const timer = setTimeout(() => {
    socket.destroy()
    reject(new NoResponse('timeout', `${place} accepted no connection within ${connectMs} ms.`))
  }, connectMs)
  await promise.finally(() => clearTimeout(timer))
  const connection = new Connection(socket, authority(target), timeoutMs)
  const stop = () => connection.destroy(new NoResponse('aborted', 'the run was stopped'))
  signal?.addEventListener('abort', stop, { once: true })
  socket.once('close', () => signal?.removeEventListener('abort', stop))
  return connection
}

/**
 * An HTTP/1.1 connection that writes exactly the given bytes. `fetch` and `node:http` hide details that must be checked: duplicate
 * headers, the framing, bytes after a response.
 */
export class Connection {
  readonly #socket: Socket
  readonly #source = new ByteSource()
  readonly #host: string
  readonly #timeoutMs: number

  constructor(socket: Socket, host: string, timeoutMs: number) {
    this.#socket = socket
    this.#host = host
    this.#timeoutMs = timeoutMs
    socket.on('data', (bytes: Buffer) => this.#source.push(bytes))
    socket.on('end', () => this.#source.end(new NoResponse('closed', 'the connection was closed')))
    socket.on('error', (error) =>
      this.#source.end(new NoResponse('reset', `the connection failed: ${error.message}`)),
    )
    socket.on('close', () => this.#source.end(new NoResponse('closed', 'the connection was closed')))
  }

  /** Protocol, cipher and ALPN; undefined without TLS. */
  get tls(): string | undefined {
    return describeTls(this.#socket)
  }

  /** Sends a request, or bytes as they are; resolves when the system has taken them. */
  send(request: Request | Uint8Array): Promise<void> {
    const bytes = request instanceof Uint8Array ? request : requestBytes(request, this.#host)
    const { promise, resolve } = Promise.withResolvers<void>()
    // A failed write needs no report: the response may have arrived, and otherwise reading it fails with the reason.
    this.#socket.write(bytes, () => resolve())
    return this.#within(() => promise, 'the request was not taken')
  }

  /** Reads one head, 1xx included. */
  head(): Promise<Head> {
    return this.#within(() => readHead(this.#source), 'no response')
  }

  /** Reads the next final response. @param method of the request, since HEAD has no body */
  response(method = 'GET'): Promise<HttpResponse> {
    return this.#within(async () => {
      let head = await readHead(this.#source)
      // RFC 9110 section 15.2: a client must be able to read any number of interim responses.
      while (head.status < 200) head = await readHead(this.#source)
      return readBody(this.#source, head, method)
    }, 'no complete response')
  }

  /** Sends a request and reads its response. Extra bytes after the response are a fault. */
  async exchange(request: Request): Promise<HttpResponse> {
    await this.send(request)
    const response = await this.response(methodOf(request))
    const { length } = this.#source
    if (length > 0) {
      const excess = this.#source.peek().toString('latin1', 0, 60)
      response.faults.push(`${length} bytes after the response: ${JSON.stringify(excess)}`)
    }
    return response
  }

  /** @param reason why what is still read fails */
  destroy(reason?: NoResponse): void {
    if (reason !== undefined) this.#source.end(reason)
    this.#socket.destroy()
  }

  async #within<T>(read: () => Promise<T>, lacking: string): Promise<T> {
    const expire = () => this.destroy(new NoResponse('timeout', `${lacking} within ${this.#timeoutMs} ms`))
    const timer = setTimeout(expire, this.#timeoutMs)
    try {
      return await read()
    } finally {
      clearTimeout(timer)
    }
  }
}
