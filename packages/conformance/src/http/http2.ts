import { type ClientHttp2Session, connect } from 'node:http2'
import { certificateCheck, whyNotTrusted } from '@startgrid/cli/arguments.ts'
import { headerValues } from './header.ts'
import type { Http1Connection, Patience } from './http1.ts'
import type { Request } from './request.ts'
import type { HttpResponse } from './response.ts'
import { NoResponse } from './source.ts'
import { authority, describeTls, formatTarget, type Target } from './target.ts'

/** A request, or a step of a check, that exists only in HTTP/1.1. */
export class Http1Only extends Error {
  override name = 'Http1Only'
}

/** RFC 9113 section 8.2.2: what is about one connection of HTTP/1.1. `expect` waits for a status that node:http2 handles itself. */
const OF_CONNECTION =
  /^(?:connection|expect|host|http2-settings|keep-alive|proxy-connection|te|transfer-encoding|upgrade)$/i

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** An HTTP/2 connection with one request after the other. What is about bytes on the wire throws `Http1Only`. */
export class Http2Connection implements Pick<Http1Connection, keyof Http1Connection> {
  readonly #session: ClientHttp2Session
  readonly #target: Target
  readonly #timeoutMs: number
  readonly tls: string | undefined

  private constructor(
    session: ClientHttp2Session,
    target: Target,
    timeoutMs: number,
    tls: string | undefined,
  ) {
    this.#session = session
    this.#target = target
    this.#timeoutMs = timeoutMs
    this.tls = tls
    // Each request reports it.
    session.on('error', () => {})
  }

  /** @throws {NoResponse} if nobody listens there, or the server does not speak HTTP/2 */
  static async open(
    target: Target,
    { timeoutMs, connectMs = timeoutMs, signal }: Patience,
  ): Promise<Http2Connection> {
    if (signal?.aborted) throw new NoResponse('aborted', 'the run was stopped')
    const place = formatTarget(target)
    if ('socketPath' in target || target.ca === undefined)
      throw new NoResponse('refused', `HTTP/2 is spoken over TLS only, and ${place} has none.`)
    const session = connect(place, certificateCheck(target))
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>()
    session.once('connect', (_, socket) => resolve(describeTls(socket)))
    session.once('error', (error) =>
      reject(
        new NoResponse(
          'refused',
          whyNotTrusted(place, error) ?? `Nothing listens at ${place} (${error.message}).`,
        ),
      ),
    )
    const timer = setTimeout(
      () => session.destroy(new Error(`no connection within ${connectMs} ms`)),
      connectMs,
    )
    const tls = await promise.finally(() => clearTimeout(timer))
    return new Http2Connection(session, target, timeoutMs, tls)
  }

  exchange(request: Request): Promise<HttpResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
    const { headers, body, isWhole } = frame(request, this.#target)
    const stream = this.#session.request(headers, { endStream: body === undefined })
    const response: HttpResponse = {
      ...{ version: '2', status: 0, reason: '', headers: [], faults: [], framing: 'chunked', trailers: [] },
      body: Buffer.alloc(0),
      fragments: [],
    }
    stream.on('response', (fields, _flags, raw) => {
      response.status = Number(fields[':status'])
      for (let at = 0; at < raw.length; at += 2)
        if (!raw[at]?.startsWith(':')) response.headers.push([raw[at] ?? '', raw[at + 1] ?? ''])
      if (fields['content-length'] !== undefined) response.framing = 'length'
    })
    stream.on('data', (bytes: Buffer) => response.fragments.push({ at: performance.now(), bytes }))
    stream.on('end', () => {
      response.body = Buffer.concat(response.fragments.map(({ bytes }) => bytes))
      if (response.status > 0) resolve(response)
    })
    // After a response, this changes nothing.
    stream.on('error', ({ message }) => reject(new NoResponse('reset', `the stream ended: ${message}`)))
    stream.on('close', () => reject(new NoResponse('reset', `the stream ended with code ${stream.rstCode}`)))
    stream.setTimeout(this.#timeoutMs, () => {
      reject(new NoResponse('timeout', `no complete response within ${this.#timeoutMs} ms`))
      stream.close()
    })
    if (body !== undefined) stream.write(body)
    if (body !== undefined && isWhole) stream.end()
    return promise
  }

  /** Whether another request can be sent on it. */
  get isOpen(): boolean {
    return !this.#session.closed && !this.#session.destroyed
  }

  /** Ends it when all its requests have ended. */
  close(): void {
    this.#session.close()
  }

  destroy(): void {
    this.#session.destroy()
  }

  send = ofTheWire
  head = ofTheWire
  response = ofTheWire
  peekStatus = ofTheWire
  closed = ofTheWire
  excess = ofTheWire
  finish = ofTheWire
}

/**
 * One connection for the requests that need none of their own, as clients of HTTP/2 have it: a handshake costs more than a request. A new
 * one follows when the server has closed it, or a request on it got no response.
 */
export class SharedHttp2 {
  readonly #target: Target
  readonly #patience: Patience
  #opening: Promise<Http2Connection> | undefined
  #current: Http2Connection | undefined

  constructor(target: Target, patience: Patience) {
    this.#target = target
    this.#patience = patience
  }

  /** @throws {NoResponse} as `Http2Connection.open` and `exchange` */
  async exchange(request: Request): Promise<HttpResponse> {
    if (this.#patience.signal?.aborted) throw new NoResponse('aborted', 'the run was stopped')
    const connection = this.#current?.isOpen ? this.#current : await this.#open()
    try {
      return await connection.exchange(request)
    } catch (error) {
      if (error instanceof NoResponse) connection.close()
      throw error
    }
  }

  destroy(): void {
    this.#current?.destroy()
  }

  async #open(): Promise<Http2Connection> {
    this.#opening ??= Http2Connection.open(this.#target, this.#patience).finally(() => {
      this.#opening = undefined
    })
    this.#current = await this.#opening
    return this.#current
  }
}

function ofTheWire(): never {
  throw new Http1Only('This is about HTTP/1.1.')
}

/**
 * A request as HTTP/2 has it. `isWhole` is false if its content-length announces more than the body has.
 * @throws {Http1Only} if HTTP/2 cannot express it
 */
function frame({ method = 'GET', target, version, host, headers = [], body }: Request, server: Target) {
  const isPlain = headers.every(([name]) => TOKEN.test(name) && !OF_CONNECTION.test(name))
  if (version !== undefined || host === null || method === 'CONNECT' || !target.startsWith('/') || !isPlain)
    ofTheWire()
  const length = Buffer.byteLength(body ?? '')
  const lengths = headerValues(headers, 'content-length')
  const declared = Number(lengths[0] ?? length)
  if (lengths.length > 1 || !(declared >= length) || (body === undefined && declared > 0)) ofTheWire()
  const pseudo = [
    ':method',
    method,
    ':scheme',
    'https',
    ':path',
    target,
    ':authority',
    host ?? authority(server),
  ]
  const own = lengths.length > 0 || body === undefined ? [] : ['content-length', String(length)]
  const fields = headers.flatMap(([name, value]) => [name.toLowerCase(), value])
  return { headers: [...pseudo, ...fields, ...own], body, isWhole: declared === length }
}
