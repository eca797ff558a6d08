import type { Socket } from 'node:net'
import { NoResponse, ResponseReader } from '@startgrid/wire/reader.ts'
import { connect, describeTls, type Target } from '@startgrid/wire/target.ts'
import type { ErrorKind } from './result.ts'
import type { ResponseTemplate } from './template.ts'

/** Callbacks of a connection. They are never called from within `send` or `close`. */
export interface ConnectionOwner {
  opened(connection: Connection): void
  /** A complete response was read. @param now milliseconds of `performance.now()`, taken after its last byte was read */
  responded(connection: Connection, now: number): void
  /** The connection has ended. Without a `kind` it ended properly: no request was in flight. */
  failed(connection: Connection, kind: ErrorKind | undefined, error?: NodeJS.ErrnoException): void
}

/** What the connections of one load have in common. */
export interface ConnectionOptions {
  target: Target
  method: string
  template: ResponseTemplate
}

/**
 * The receive buffer of all connections. On Linux and macOS, libuv reads and calls back before it reads again, so no connection
 * overwrites the bytes of another.
 */
const RECEIVED = Buffer.allocUnsafeSlow(64 * 1024)
const RECEIVED_WORDS = new Int32Array(RECEIVED.buffer)

type State = 'connecting' | 'open' | 'closed'

/** One TCP, TLS or unix connection for its whole life, with one request in flight at most. */
export class Connection {
  readonly parser: ResponseReader
  /** Whether a request waits for its response. After the end of the connection: whether one got none. */
  awaiting = false
  /** `performance.now()` when the connection was asked for. */
  readonly since = performance.now()
  /** Complete responses so far. */
  responses = 0

  // About the last request:

  /** When it was due and when it was sent: `performance.now()`. */
  intended = 0
  sent = 0
  /** Which path it asks for. */
  path = 0
  /** Whether the parser keeps the body of its response for comparison. */
  sampled = false
  /** Bytes of its response so far. */
  received = 0

  readonly #template: ResponseTemplate
  readonly #owner: ConnectionOwner
  readonly #socket: Socket
  #state: State = 'connecting'

  /** As `LoadResult.handshakes` names it; undefined without TLS, and until it is open. */
  handshake: string | undefined

  constructor({ target, method, template }: ConnectionOptions, owner: ConnectionOwner) {
    this.#template = template
    this.#owner = owner
    this.parser = new ResponseReader(method)
    const onread = { buffer: RECEIVED, callback: (length: number) => this.#read(length) }
    this.#socket = connect(target, () => this.#ready(), { onread })
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#broken(error))
    this.#socket.on('end', () => this.#ended())
  }

  /** Whether a request may be sent now. */
  get isFree(): boolean {
    return !this.awaiting && this.#state !== 'closed'
  }

  get connecting(): boolean {
    return this.#state === 'connecting'
  }

  /** `performance.now()` since when something is awaited; infinite if nothing is. */
  get waitingSince(): number {
    if (this.awaiting) return this.intended
    return this.#state === 'connecting' ? this.since : Number.POSITIVE_INFINITY
  }

  /**
   * Sends one request, or will once the connection is open; it must be free.
   * @param intended when it was to be sent: `performance.now()`
   * @param now the same clock, just now
   * @param path which path it asks for
   * @param sampled whether to keep the response's body
   */
  send(request: Buffer, intended: number, now: number, path: number, sampled: boolean): void {
    this.awaiting = true
    this.intended = intended
    this.sent = now
    this.path = path
    this.sampled = sampled
    this.received = 0
    this.parser.keep = sampled ? Number.POSITIVE_INFINITY : 0
    this.#socket.write(request)
  }

  /** Closes the connection without further callbacks. */
  close(): void {
    this.#state = 'closed'
    this.#socket.destroy()
  }

  #ready(): void {
    if (this.#state !== 'connecting') return
    this.handshake = describeTls(this.#socket)
    this.#state = 'open'
    this.#owner.opened(this)
  }

  #read(length: number): boolean {
    if (this.#state === 'closed') return true
    if (!this.awaiting) {
      // Servers may send 408 before they close a connection that was idle for too long (RFC 9110 section 15.5.9): no request got it.
      const is408 = RECEIVED.toString('latin1', 0, Math.min(length, 13)) === 'HTTP/1.1 408 '
      this.#fail(is408 ? undefined : 'parse')
      return true
    }
    try {
      const end = this.#parse(length)
      // Bytes after the response belong to no request.
      if (end < length) this.#fail('parse')
      else if (this.parser.complete) this.#responded()
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error
      this.#fail('parse', error)
    }
    return true
  }

  /** @returns the place after the last byte that belongs to the response */
  #parse(length: number): number {
    const { parser } = this
    const whole = parser.complete && !this.sampled
    if (whole && this.#template.matches(RECEIVED_WORDS, length)) {
      parser.status = this.#template.response.status
      parser.bodyLength = this.#template.response.bodyLength
      parser.reusable = true
      this.received = length
      return length
    }
    const end = parser.read(RECEIVED, 0, length)
    this.received += end
    if (whole && parser.complete && end === length) this.#template.miss(RECEIVED, length, parser)
    return end
  }

  #responded(): void {
    this.awaiting = false
    this.responses++
    this.#owner.responded(this, performance.now())
  }

  #ended(): void {
    if (this.#state === 'open' && this.parser.end()) this.#responded()
    else this.#broken()
  }

  #broken(error?: NodeJS.ErrnoException): void {
    if (this.#state === 'closed') return
    if (this.#state === 'connecting') this.#fail('connect', error)
    else this.#fail(this.awaiting ? 'reset' : undefined, error)
  }

  #fail(kind: ErrorKind | undefined, error?: NodeJS.ErrnoException): void {
    this.close()
    this.#owner.failed(this, kind, error)
  }
}
