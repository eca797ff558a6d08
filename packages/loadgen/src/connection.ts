import { connect, type Socket } from 'node:net'
import { AnswerParser, ParseError } from './parser.ts'
import type { ErrorKind } from './result.ts'
import { connectOptions, type Target } from './target.ts'
import type { AnswerTemplate } from './template.ts'

/** What a connection tells; never from within `send` or `close`. */
export interface ConnectionOwner {
  opened(connection: Connection): void
  /** A whole answer was read. @param now milliseconds of `performance.now()`, taken after its last byte was read */
  answered(connection: Connection, now: number): void
  /** The connection is over. Without a `kind` it ended properly: nothing was asked of it. */
  failed(connection: Connection, kind: ErrorKind | undefined, error?: NodeJS.ErrnoException): void
}

/**
 * All connections read into this one buffer. libuv on Linux and macOS reads and calls back before it reads again, so none
 * overwrites another's bytes.
 */
const RECEIVED = Buffer.allocUnsafeSlow(64 * 1024)
const RECEIVED_WORDS = new Int32Array(RECEIVED.buffer)

type State = 'connecting' | 'idle' | 'waiting' | 'closed'

/** One TCP or unix connection for its whole life, with at most one request in flight. */
export class Connection {
  readonly parser: AnswerParser
  /** `performance.now()` when the connection was asked for or, later, when its last request was sent. */
  since = performance.now()
  /** Whole answers so far. */
  answers = 0
  /** Bytes received since the last request. */
  received = 0
  /** Whether the content of the awaited answer is to be compared. */
  sampled = false

  readonly #template: AnswerTemplate
  readonly #owner: ConnectionOwner
  readonly #socket: Socket
  #state: State = 'connecting'

  /** @param template shared by the connections of one load */
  constructor(target: Target, method: string, template: AnswerTemplate, owner: ConnectionOwner) {
    this.#template = template
    this.#owner = owner
    this.parser = new AnswerParser(method)
    this.#socket = connect({
      ...connectOptions(target),
      noDelay: true,
      onread: { buffer: RECEIVED, callback: (length) => this.#read(length) },
    })
    this.#socket.on('connect', () => this.#opened())
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#broken(error))
    this.#socket.on('end', () => this.#ended())
  }

  get idle(): boolean {
    return this.#state === 'idle'
  }

  get waiting(): boolean {
    return this.#state === 'waiting'
  }

  get connecting(): boolean {
    return this.#state === 'connecting'
  }

  /**
   * Sends one request; the connection must be idle.
   * @param now milliseconds of `performance.now()` from which the latency counts
   * @param sampled whether to keep the answer's body
   */
  send(request: Buffer, now: number, sampled: boolean): void {
    this.#state = 'waiting'
    this.since = now
    this.received = 0
    this.sampled = sampled
    if (sampled) this.parser.captureNext()
    this.#socket.write(request)
  }

  /** Closes the connection; the owner hears nothing more of it. */
  close(): void {
    this.#state = 'closed'
    this.#socket.destroy()
  }

  #opened(): void {
    if (this.#state !== 'connecting') return
    this.#state = 'idle'
    this.#owner.opened(this)
  }

  #read(length: number): boolean {
    if (this.#state !== 'waiting') {
      if (this.#state === 'idle') this.#fail('parse')
      return true
    }
    this.received += length
    try {
      const end = this.#parse(length)
      if (!this.parser.complete) return true
      // Only one request is in flight: what follows its answer belongs to no request.
      if (end < length) this.#fail('parse')
      else this.#answered()
    } catch (error) {
      if (!(error instanceof ParseError)) throw error
      this.#fail('parse', error)
    }
    return true
  }

  /** @returns the place after the last byte that belongs to the answer */
  #parse(length: number): number {
    const { parser } = this
    const whole = parser.complete && !this.sampled
    if (whole && this.#template.matches(RECEIVED_WORDS, length)) {
      parser.accept(this.#template.answer)
      return length
    }
    const end = parser.parse(RECEIVED, 0, length)
    if (whole && parser.complete && end === length) this.#template.miss(RECEIVED, length, parser)
    return end
  }

  #answered(): void {
    this.#state = 'idle'
    this.answers++
    this.#owner.answered(this, performance.now())
  }

  #ended(): void {
    if (this.#state === 'waiting' && this.parser.end()) this.#answered()
    else this.#broken()
  }

  #broken(error?: NodeJS.ErrnoException): void {
    if (this.#state === 'closed') return
    if (this.#state === 'connecting') this.#fail('connect', error)
    else this.#fail(this.#state === 'waiting' ? 'reset' : undefined, error)
  }

  #fail(kind: ErrorKind | undefined, error?: NodeJS.ErrnoException): void {
    this.close()
    this.#owner.failed(this, kind, error)
  }
}
