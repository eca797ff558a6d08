import type { Socket } from 'node:net'
import { type Failure, NoResponse, type Response, ResponseReader } from './reader.ts'
import { methodOf, type Request, requestBytes } from './request.ts'
import { authority, connect, formatTarget, type Target } from './target.ts'

/** How long to wait, and how much to keep. */
export interface Patience {
  /** Milliseconds for the connection (unless it has its own), and again for each response. */
  timeoutMs: number
  connectMs?: number
  /** Ends all waiting when it is aborted. */
  signal?: AbortSignal | undefined
  /** Bytes of each body to keep, about; default all. */
  keep?: number
}

/** Sends one request on a connection of its own. @throws {NoResponse} if there is no complete response */
export async function ask(target: Target, request: Request, patience: Patience): Promise<Response> {
  const connection = await openConnection(target, patience)
  return connection.exchange(request).finally(() => connection.destroy())
}

/**
 * Connects.
 * @throws {NoResponse} if nobody listens there
 */
export async function openConnection(target: Target, patience: Patience): Promise<Connection> {
  const { timeoutMs, connectMs = timeoutMs, signal } = patience
  if (signal?.aborted) throw new NoResponse('aborted', 'the run was stopped')
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect(target, resolve)
  const connection = new Connection(socket, authority(target), patience)
  const place = formatTarget(target)
  const fail = (failure: Failure, message: string) => {
    const reason = new NoResponse(failure, message)
    reject(reason)
    connection.destroy(reason)
  }
  socket.once('error', ({ code = '', message }: NodeJS.ErrnoException) => {
    const untrusted = `The certificate of ${place} is not trusted (${code}): on loopback, --insecure accepts it.`
    const nobody = `Nothing listens at ${place} (${message}): start the server first.`
    fail('refused', /CERT|VERIFY/.test(code) ? untrusted : nobody)
  })
  const late = () => fail('timeout', `${place} accepted no connection within ${connectMs} ms.`)
  const timer = setTimeout(late, connectMs)
  const stop = () => fail('aborted', 'the run was stopped')
  signal?.addEventListener('abort', stop, { once: true })
  socket.once('close', () => signal?.removeEventListener('abort', stop))
  await promise.finally(() => clearTimeout(timer))
  return connection
}

/** An HTTP/1.1 connection that writes exactly the given bytes. */
export class Connection {
  readonly #socket: Socket
  readonly #host: string
  readonly #patience: Patience
  /** What has arrived and was not read. */
  #arrived: Buffer = Buffer.alloc(0)
  /** Of the response that is being read. */
  #reader: ResponseReader | undefined
  #end: NoResponse | undefined
  #isReusable = true
  #wake: () => void = () => {}

  constructor(socket: Socket, host: string, patience: Patience) {
    this.#socket = socket
    this.#host = host
    this.#patience = patience
    socket.on('data', (bytes: Buffer) => {
      this.#arrived = this.#arrived.length === 0 ? bytes : Buffer.concat([this.#arrived, bytes])
      this.#wake()
    })
    const closed = () => this.#ended(new NoResponse('closed', 'the connection was closed'))
    socket.on('end', closed).on('close', closed)
    socket.on('error', ({ message }) =>
      this.#ended(new NoResponse('reset', `the connection failed: ${message}`)),
    )
  }

  /** Whether another request may be sent: the server has not closed the connection, or said that it will. */
  get isOpen(): boolean {
    return this.#end === undefined && this.#isReusable
  }

  /** Sends a request, or bytes as they are. If that fails, reading does, too: a response may have come before. */
  send(request: Request | Uint8Array): void {
    this.#socket.write(request instanceof Uint8Array ? request : requestBytes(request, this.#host))
  }

  /** Reads up to the end of the next final head. `response` reads the rest. @throws {NoResponse} */
  head(): Promise<Response> {
    return this.#receive('GET', false)
  }

  /**
   * Reads the next final response.
   * @param method of the request, since HEAD has no body
   * @throws {NoResponse} if it does not come, or not whole
   */
  async response(method = 'GET'): Promise<Response> {
    const response = await this.#receive(method, true)
    this.#reader = undefined
    this.#isReusable = response.reusable
    return response
  }

  /** Sends a request and reads its response. Extra bytes after the response are a fault. */
  async exchange(request: Request): Promise<Response> {
    this.send(request)
    const response = await this.response(methodOf(request))
    const { length } = this.#arrived
    if (length > 0) {
      const excess = this.#arrived.toString('latin1', 0, 60)
      response.faults.push(`${length} bytes after the response: ${JSON.stringify(excess)}`)
    }
    return response
  }

  /** @param reason why what is still read fails */
  destroy(reason?: NoResponse): void {
    if (reason !== undefined) this.#ended(reason)
    this.#socket.destroy()
  }

  async #receive(method: string, isWhole: boolean): Promise<Response> {
    const { timeoutMs, keep = Number.POSITIVE_INFINITY } = this.#patience
    const late = new NoResponse('timeout', `no complete response within ${timeoutMs} ms`)
    const timer = setTimeout(() => this.destroy(late), timeoutMs)
    this.#reader ??= new ResponseReader(method, keep)
    const reader = this.#reader
    try {
      for (;;) {
        const response = reader.complete || !isWhole ? reader.response() : undefined
        if (response !== undefined) return response
        if (this.#arrived.length > 0)
          this.#arrived = this.#arrived.subarray(reader.read(this.#arrived, 0, this.#arrived.length))
        else if (this.#end === undefined) await this.#more()
        else if (this.#end.failure !== 'closed' || !reader.end()) throw this.#end
      }
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error
      const place = reader.started ? ` amid a response, after ${reader.bodyLength} bytes of its body` : ''
      throw new NoResponse(error.failure, `${error.message}${place}`, reader.response())
    } finally {
      clearTimeout(timer)
    }
  }

  #more(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    return promise
  }

  /** Nothing more will come. The first reason stands. */
  #ended(reason: NoResponse): void {
    this.#end ??= reason
    this.#wake()
  }
}
