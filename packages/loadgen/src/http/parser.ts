/** What a parser found in the response that a template was made from. */
export interface ParsedResponse {
  readonly status: number
  readonly bodyLength: number
}

/** The input is not HTTP/1.1. */
export class ParseError extends Error {
  override name = 'ParseError'
}

const LF = 0x0a
const LONGEST_HEAD = 65_536

/** All up to the empty line, with the minor version and the status. Names are https://www.rfc-editor.org/rfc/rfc9110#name-tokens */
const HEAD =
  /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t -\xff]*)?\r?\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -\xff]*\r?\n)*\r?\n/
/** The headers that determine where a response ends. */
const FRAMING = /\n(content-length|transfer-encoding|connection):([^\r\n]*)/gi
const TRAILER = /^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -\xff]*)?$/
/** A size that stays exact below 2^53, and an extension, which nothing here knows. */
const CHUNK = /^([\da-fA-F]{1,13})[\t ]*(?:;[\t -\xff]*)?$/
const LENGTH = /^\d{1,15}$/

/** What is read next: a head, data, or one of three kinds of lines. */
type State = 'head' | 'data' | 'data until close' | 'chunk' | 'end of chunk' | 'trailer'

/**
 * Reads the responses of one HTTP/1.1 connection: status, framing, and (if asked) the body. It can stop and continue at any byte.
 *
 * It is strict about anything that makes the end of a response ambiguous (folded lines, differing lengths). It accepts a bare LF, as
 * https://www.rfc-editor.org/rfc/rfc9112#section-2.2 allows. It skips informational responses (1xx).
 */
export class ResponseParser {
  /** The last response is complete. The next `parse` begins a new one. */
  complete = true
  /** 100 to 999; valid once `complete`. */
  status = 0
  /** Bytes of body read so far, without chunk framing. */
  bodyLength = 0
  /** The connection may be used for another request; valid once `complete`. */
  reusable = true
  /** Whether the response's body came in chunks; valid once `complete`. */
  chunked = false

  readonly #isHead: boolean
  #state: State = 'head'
  /** What was read of a head or a line. */
  #partial = ''
  /** Bytes of body or of this chunk still to come. */
  #left = 0
  #captures = false
  #captured: Buffer[] = []

  /** @param method of the requests: a response to HEAD has no body, whatever its headers say */
  constructor(method = 'GET') {
    this.#isHead = method === 'HEAD'
  }

  /** Whether a byte of a response was read, and not yet its last. */
  get started(): boolean {
    return !this.complete && !(this.#state === 'head' && this.#partial === '')
  }

  /** Makes the parser keep the body of the next response. Call between two responses. */
  captureNext(): void {
    this.#captures = true
  }

  /** The captured body of the response that was read last; empty if it was not captured. */
  takeBody(): Buffer {
    const body = Buffer.concat(this.#captured)
    this.#captured = []
    this.#captures = false
    return body
  }

  /** Records a response that needs no parsing. Call it between two responses. */
  accept({ status, bodyLength }: ParsedResponse): void {
    this.status = status
    this.bodyLength = bodyLength
    this.reusable = true
  }

  /**
   * Reads until the end of one response (`complete`) or of the input.
   * @returns the place after the last byte read; less than `to` only if `complete`
   * @throws {ParseError} if this is not HTTP/1.x; the connection cannot be used any more
   */
  parse(bytes: Buffer, from: number, to: number): number {
    if (this.complete) this.#begin()
    let at = from
    while (at < to && !this.complete) at = this.#read(bytes, at, to)
    return at
  }

  /**
   * The peer closed the connection.
   * @returns true if that is the proper end of a response, which is now `complete`
   */
  end(): boolean {
    if (this.complete || this.#state !== 'data until close') return false
    this.complete = true
    return true
  }

  #begin(): void {
    this.complete = false
    this.bodyLength = 0
    this.#state = 'head'
  }

  #read(bytes: Buffer, at: number, to: number): number {
    if (this.#state === 'head') return this.#readHead(bytes, at, to)
    return this.#state.startsWith('data') ? this.#readData(bytes, at, to) : this.#readLine(bytes, at, to)
  }

  #readHead(bytes: Buffer, from: number, to: number): number {
    const text = this.#partial + bytes.toString('latin1', from, Math.min(to, from + LONGEST_HEAD))
    const [head, minor, status] = HEAD.exec(text) ?? []
    if (head === undefined) {
      const mayFollow = text.startsWith('HTTP/1.'.slice(0, text.length)) && !/\n\r?\n/.test(text)
      if (!mayFollow || text.length >= LONGEST_HEAD) throw new ParseError('This is no head of HTTP/1.1.')
      this.#partial = text
      return to
    }
    const end = from + head.length - this.#partial.length
    this.#partial = ''
    this.status = Number(status)
    if (this.status >= 200 || this.status === 101) this.#beginBody(head, minor === '1')
    return end
  }

  #readLine(bytes: Buffer, from: number, to: number): number {
    const end = bytes.indexOf(LF, from)
    const isWhole = end >= 0 && end < to
    const text = this.#partial + bytes.toString('latin1', from, isWhole ? end : to)
    if (text.length > LONGEST_HEAD) throw new ParseError('A line is too long.')
    this.#partial = isWhole ? '' : text
    if (!isWhole) return to
    this.#takeLine(text.endsWith('\r') ? text.slice(0, -1) : text)
    return end + 1
  }

  #takeLine(line: string): void {
    if (this.#state === 'chunk') {
      const [, size] = CHUNK.exec(line) ?? []
      if (size === undefined) throw new ParseError('A chunk does not begin with its size.')
      this.#left = Number.parseInt(size, 16)
      this.#state = this.#left > 0 ? 'data' : 'trailer'
    } else if (this.#state === 'end of chunk') {
      if (line !== '') throw new ParseError('A chunk is longer than its size.')
      this.#state = 'chunk'
    } else {
      // Trailers cannot change the framing: https://www.rfc-editor.org/rfc/rfc9110#section-6.5.1
      if (!TRAILER.test(line)) throw new ParseError('A line of the trailers is none.')
      this.complete = line === ''
    }
  }

  /** https://www.rfc-editor.org/rfc/rfc9112#section-6.3 */
  #beginBody(head: string, isPersistent: boolean): void {
    const { status } = this
    const { length, encodings, connection } = framingOf(head)
    this.chunked = encodings.at(-1) === 'chunked'
    this.reusable =
      status !== 101 && !connection.includes('close') && (isPersistent || connection.includes('keep-alive'))
    const hasBody = !this.#isHead && status !== 204 && status !== 304 && status !== 101
    if (hasBody && this.chunked) {
      this.#state = 'chunk'
    } else if (hasBody && (encodings.length > 0 || length === undefined)) {
      this.reusable = false
      this.#state = 'data until close'
    } else {
      this.#state = 'data'
      this.#left = hasBody ? (length ?? 0) : 0
      this.complete = this.#left === 0
    }
  }

  #readData(bytes: Buffer, from: number, to: number): number {
    const isBounded = this.#state === 'data'
    const end = isBounded ? Math.min(to, from + this.#left) : to
    this.bodyLength += end - from
    if (this.#captures) this.#captured.push(Buffer.from(bytes.subarray(from, end)))
    this.#left -= end - from
    const isEnd = isBounded && this.#left === 0
    if (isEnd && this.chunked) this.#state = 'end of chunk'
    else this.complete = isEnd
    return end
  }
}

/** @throws {ParseError} if lengths differ, or one is no number */
function framingOf(head: string) {
  let length: number | undefined
  const encodings: string[] = []
  const connection: string[] = []
  for (const [, name = '', value = ''] of head.matchAll(FRAMING)) {
    const kind = name.toLowerCase()
    if (kind === 'content-length') length = lengthOf(value, length)
    else
      (kind === 'connection' ? connection : encodings).push(...(value.toLowerCase().match(/[^,\s]+/g) ?? []))
  }
  return { length, encodings, connection }
}

function lengthOf(value: string, other: number | undefined): number {
  const text = value.trim()
  const length = LENGTH.test(text) ? Number(text) : undefined
  if (length === undefined) throw new ParseError('The content-length is not a number.')
  if (length !== (other ?? length)) throw new ParseError('The response has two different content-lengths.')
  return length
}
