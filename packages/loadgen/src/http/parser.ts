import { Words } from './words.ts'

/** What a parser found in the response that a template was made from. */
export interface ParsedResponse {
  readonly status: number
  readonly bodyLength: number
}

/** The input is not HTTP/1.1. The message says where. */
export class ParseError extends Error {
  override name = 'ParseError'
}

const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const COMMA = 0x2c
const ZERO = 0x30
const COLON = 0x3a
const SEMICOLON = 0x3b

const VERSION = Buffer.from('HTTP/1.')
/** `HTTP/1.1 200`: the minor version is byte 7, the status bytes 9 to 11. */
const MINOR_PLACE = 7
const STATUS_PLACE = 9
const STATUS_END = 12

/** The headers that determine where a response ends; all others are skipped. */
const NAMES = new Words(['content-length', 'transfer-encoding', 'connection'])
const CONTENT_LENGTH = 1
const TRANSFER_ENCODING = 2
const CONNECTION = 4

const TOKENS = new Words(['chunked', 'close', 'keep-alive'])
const CHUNKED = 1
const CLOSE = 2
const KEEP_ALIVE = 4

/** 1 for the bytes of a header name: https://www.rfc-editor.org/rfc/rfc9110#name-tokens */
const TOKEN_BYTES = new Uint8Array(256)
for (const byte of Buffer.from(
  "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
)) {
  TOKEN_BYTES[byte] = 1
}

/** The value of a hexadecimal digit, or 255. */
const HEX = new Uint8Array(256).fill(255)
for (let digit = 0; digit < 16; digit++) {
  HEX[digit.toString(16).charCodeAt(0)] = digit
  HEX[digit.toString(16).toUpperCase().charCodeAt(0)] = digit
}

/** Lengths stay exact below 2^53: 15 decimal digits, or 13 hexadecimal ones. */
const MAX_DECIMAL = 1e14
const MAX_HEX = 2 ** 48

type State =
  | typeof STATUS_LINE
  | typeof LINE_START
  | typeof NAME
  | typeof SKIPPED_LINE
  | typeof LENGTH_VALUE
  | typeof TOKEN_VALUE
  | typeof LINE_LF
  | typeof SECTION_LF
  | typeof BODY
  | typeof BODY_UNTIL_CLOSE
  | typeof CHUNK_SIZE
  | typeof CHUNK_END

const STATUS_LINE = 0
const LINE_START = 1
const NAME = 2
const SKIPPED_LINE = 3
const LENGTH_VALUE = 4
const TOKEN_VALUE = 5
/** After the CR of a line. */
const LINE_LF = 6
/** After the CR of the empty line that ends the headers or the trailers. */
const SECTION_LF = 7
const BODY = 8
const BODY_UNTIL_CLOSE = 9
const CHUNK_SIZE = 10
/** The line end after a chunk's data. */
const CHUNK_END = 11

/** What a line belongs to: where the bytes after it are read. */
type Section = typeof HEADERS | typeof CHUNK_HEAD | typeof TRAILERS

const HEADERS = 0
const CHUNK_HEAD = 1
const TRAILERS = 2

/**
 * Reads the responses of one HTTP/1.1 connection: status, framing, and (if asked) the body. A state machine that can stop and
 * continue at any byte. It allocates nothing unless a body is captured.
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

  readonly #head: boolean
  #state: State = STATUS_LINE
  #section: Section = HEADERS
  /** Place inside the status line, a name, a token or a number. */
  #place = 0
  #candidates = 0
  #name = 0
  #number = 0
  #minor = 0
  /** -1 without a content-length. */
  #contentLength = -1
  #encoded = false
  #chunked = false
  #tokens = 0
  /** Bytes of body or of this chunk still to come. */
  #left = 0
  #capture = false
  #captured: Buffer[] = []

  /** @param method of the requests: a response to HEAD has no body, whatever its headers say */
  constructor(method = 'GET') {
    this.#head = method === 'HEAD'
  }

  /** Whether a byte of a response was read, and not yet its last. */
  get started(): boolean {
    return !this.complete && !(this.#state === STATUS_LINE && this.#place === 0)
  }

  /** Makes the parser keep the body of the next response. Call between two responses. */
  captureNext(): void {
    this.#capture = true
  }

  /** The captured body of the response that was read last; empty if it was not captured. */
  takeBody(): Buffer {
    const body = Buffer.concat(this.#captured)
    this.#captured = []
    this.#capture = false
    return body
  }

  /** Whether the response's body came in chunks; valid once `complete`. */
  get chunked(): boolean {
    return this.#chunked
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
    while (at < to && !this.complete) at = this.#step(bytes, at, to)
    return at
  }

  /**
   * The peer closed the connection.
   * @returns true if that is the proper end of a response, which is now `complete`
   */
  end(): boolean {
    if (this.complete || this.#state !== BODY_UNTIL_CLOSE) return false
    this.complete = true
    return true
  }

  #begin(): void {
    this.complete = false
    this.bodyLength = 0
    this.#beginHeaders()
  }

  #beginHeaders(): void {
    this.#state = STATUS_LINE
    this.#section = HEADERS
    this.#place = 0
    this.status = 0
    this.#contentLength = -1
    this.#encoded = false
    this.#chunked = false
    this.#tokens = 0
  }

  // Indices below stay inside [at, to): `as number` only tells the compiler so.

  #step(bytes: Buffer, at: number, to: number): number {
    switch (this.#state) {
      case STATUS_LINE:
        return this.#readStatusLine(bytes, at, to)
      case LINE_START:
        return this.#readLineStart(bytes, at)
      case NAME:
        return this.#readName(bytes, at, to)
      case SKIPPED_LINE:
        return this.#skipLine(bytes, at, to)
      case LENGTH_VALUE:
        return this.#readLength(bytes, at, to)
      case TOKEN_VALUE:
        return this.#readTokens(bytes, at, to)
      case LINE_LF:
        expectLf(bytes, at)
        this.#endLine()
        return at + 1
      case SECTION_LF:
        expectLf(bytes, at)
        this.#endSection()
        return at + 1
      case BODY:
        return this.#readBody(bytes, at, to)
      case BODY_UNTIL_CLOSE:
        this.#keep(bytes, at, to)
        return to
      case CHUNK_SIZE:
        return this.#readChunkSize(bytes, at, to)
      case CHUNK_END:
        return this.#readChunkEnd(bytes, at)
    }
  }

  #readStatusLine(bytes: Buffer, from: number, to: number): number {
    let at = from
    while (at < to && this.#place <= STATUS_END) this.#readStatusByte(bytes[at++] as number)
    return at
  }

  #readStatusByte(byte: number): void {
    const place = this.#place++
    if (place < MINOR_PLACE) {
      if (byte !== VERSION[place]) throw new ParseError('The response does not begin with HTTP/1.')
    } else if (place === MINOR_PLACE) {
      this.#minor = byte - ZERO
      if (this.#minor !== 0 && this.#minor !== 1)
        throw new ParseError('The response is not HTTP/1.0 or HTTP/1.1.')
    } else if (place < STATUS_PLACE) {
      if (byte !== SPACE) throw new ParseError('No space follows the HTTP version.')
    } else if (place < STATUS_END) {
      if (!isDigit(byte)) throw new ParseError('The status is not three digits.')
      this.status = this.status * 10 + byte - ZERO
    } else {
      this.#endStatus(byte)
    }
  }

  #endStatus(byte: number): void {
    if (this.status < 100) throw new ParseError('The status is below 100.')
    if (byte === SPACE) this.#state = SKIPPED_LINE
    else if (byte === CR) this.#state = LINE_LF
    else if (byte === LF) this.#endLine()
    else throw new ParseError('The status is not three digits.')
  }

  #readLineStart(bytes: Buffer, at: number): number {
    const byte = bytes[at] as number
    if (byte === CR) {
      this.#state = SECTION_LF
      return at + 1
    }
    if (byte === LF) {
      this.#endSection()
      return at + 1
    }
    this.#state = NAME
    this.#place = 0
    // Trailers cannot change the framing: https://www.rfc-editor.org/rfc/rfc9110#section-6.5.1
    this.#candidates = this.#section === HEADERS ? NAMES.all : 0
    return at
  }

  #readName(bytes: Buffer, from: number, to: number): number {
    let at = from
    while (at < to && this.#candidates !== 0) {
      const byte = bytes[at] as number
      if (byte === COLON) break
      this.#candidates = NAMES.narrow(this.#candidates, this.#place++, byte)
      if (TOKEN_BYTES[byte] === 0) break
      at++
    }
    const start = at
    while (at < to && TOKEN_BYTES[bytes[at] as number] === 1) at++
    this.#place += at - start
    return at < to ? this.#endName(bytes[at] as number, at + 1) : to
  }

  #endName(byte: number, at: number): number {
    if (byte !== COLON || this.#place === 0) throw new ParseError('A header line has no name and colon.')
    this.#beginValue(NAMES.read(this.#candidates, this.#place))
    return at
  }

  #beginValue(name: number): void {
    this.#name = name
    this.#place = 0
    if (name === CONTENT_LENGTH) {
      this.#number = 0
      this.#state = LENGTH_VALUE
    } else if (name === TRANSFER_ENCODING || name === CONNECTION) {
      this.#candidates = TOKENS.all
      this.#state = TOKEN_VALUE
      if (name === TRANSFER_ENCODING) this.#encoded = true
    } else {
      this.#state = SKIPPED_LINE
    }
  }

  #skipLine(bytes: Buffer, from: number, to: number): number {
    let at = from
    while (at < to) {
      const byte = bytes[at++] as number
      if (byte < SPACE && byte !== TAB) return this.#readLineEnd(byte, bytes, at, to)
    }
    return to
  }

  /** @param at after `byte`, which must end the line */
  #readLineEnd(byte: number, bytes: Buffer, at: number, to: number): number {
    if (byte === CR) {
      if (at === to) {
        this.#state = LINE_LF
        return to
      }
      expectLf(bytes, at)
      this.#endLine()
      return at + 1
    }
    if (byte !== LF) throw new ParseError('A header line contains a control character.')
    this.#endLine()
    return at
  }

  #endLine(): void {
    if (this.#section === CHUNK_HEAD) this.#endChunkSize()
    else this.#state = LINE_START
  }

  #readLength(bytes: Buffer, from: number, to: number): number {
    let at = from
    while (at < to) {
      const byte = bytes[at++] as number
      if (isDigit(byte)) {
        this.#addDigit(byte - ZERO)
      } else if (byte === SPACE || byte === TAB) {
        // Optional white space before the number or after it; a digit that follows the latter is refused.
        if (this.#place > 0) this.#place = -1
      } else {
        if (byte === CR || byte === LF) this.#endLength()
        else throw new ParseError('The content-length is not a number.')
        return this.#readLineEnd(byte, bytes, at, to)
      }
    }
    return to
  }

  #addDigit(digit: number): void {
    if (this.#place < 0 || this.#number >= MAX_DECIMAL)
      throw new ParseError('The content-length is not a number.')
    this.#place++
    this.#number = this.#number * 10 + digit
  }

  #endLength(): void {
    if (this.#place === 0) throw new ParseError('The content-length is empty.')
    if (this.#contentLength >= 0 && this.#contentLength !== this.#number) {
      throw new ParseError('The response has two different content-lengths.')
    }
    this.#contentLength = this.#number
  }

  #readTokens(bytes: Buffer, from: number, to: number): number {
    let at = from
    while (at < to) {
      const byte = bytes[at++] as number
      if (byte === COMMA || byte <= SPACE) {
        this.#endToken()
        if (byte < SPACE && byte !== TAB) return this.#readLineEnd(byte, bytes, at, to)
      } else {
        this.#candidates = TOKENS.narrow(this.#candidates, this.#place++, byte)
      }
    }
    return to
  }

  #endToken(): void {
    if (this.#place > 0) {
      const token = TOKENS.read(this.#candidates, this.#place)
      // Only a last `chunked` frames the body: https://www.rfc-editor.org/rfc/rfc9112#section-6.3
      if (this.#name === TRANSFER_ENCODING) this.#chunked = token === CHUNKED
      else this.#tokens |= token
    }
    this.#place = 0
    this.#candidates = TOKENS.all
  }

  /** The empty line after the headers or the trailers was read. */
  #endSection(): void {
    if (this.#section === TRAILERS) this.complete = true
    else if (this.status < 200 && this.status !== 101) this.#beginHeaders()
    else this.#beginBody()
  }

  /** https://www.rfc-editor.org/rfc/rfc9112#section-6.3 */
  #beginBody(): void {
    const close = (this.#tokens & CLOSE) !== 0
    this.reusable = !close && (this.#minor === 1 || (this.#tokens & KEEP_ALIVE) !== 0)
    if (this.#head || this.status === 204 || this.status === 304) {
      this.complete = true
    } else if (this.status === 101) {
      this.reusable = false
      this.complete = true
    } else if (this.#chunked) {
      this.#beginChunk()
    } else if (!this.#encoded && this.#contentLength >= 0) {
      this.#left = this.#contentLength
      this.#state = BODY
      this.complete = this.#left === 0
    } else {
      this.reusable = false
      this.#state = BODY_UNTIL_CLOSE
    }
  }

  #readBody(bytes: Buffer, from: number, to: number): number {
    const end = Math.min(to, from + this.#left)
    this.#keep(bytes, from, end)
    this.#left -= end - from
    if (this.#left === 0) this.#endData()
    return end
  }

  #keep(bytes: Buffer, from: number, to: number): void {
    this.bodyLength += to - from
    if (this.#capture) this.#captured.push(Buffer.from(bytes.subarray(from, to)))
  }

  #endData(): void {
    if (this.#chunked) this.#state = CHUNK_END
    else this.complete = true
  }

  #beginChunk(): void {
    this.#section = CHUNK_HEAD
    this.#state = CHUNK_SIZE
    this.#place = 0
    this.#number = 0
  }

  #readChunkSize(bytes: Buffer, from: number, to: number): number {
    let at = from
    while (at < to) {
      const byte = bytes[at++] as number
      const digit = HEX[byte] as number
      if (digit === 255) return this.#endChunkDigits(byte, bytes, at, to)
      if (this.#number >= MAX_HEX) throw new ParseError('A chunk size is too large.')
      this.#number = this.#number * 16 + digit
      this.#place++
    }
    return to
  }

  #endChunkDigits(byte: number, bytes: Buffer, at: number, to: number): number {
    if (this.#place === 0) throw new ParseError('A chunk has no size.')
    if (byte !== SEMICOLON && byte !== SPACE && byte !== TAB) return this.#readLineEnd(byte, bytes, at, to)
    // An extension, which nothing here knows.
    this.#state = SKIPPED_LINE
    return at
  }

  #endChunkSize(): void {
    this.#left = this.#number
    if (this.#left > 0) {
      this.#state = BODY
    } else {
      this.#section = TRAILERS
      this.#state = LINE_START
    }
  }

  #readChunkEnd(bytes: Buffer, at: number): number {
    const byte = bytes[at] as number
    if (byte === CR && this.#left === 0) {
      this.#left = -1
    } else if (byte === LF) {
      this.#beginChunk()
    } else {
      throw new ParseError('A chunk is longer than its size.')
    }
    return at + 1
  }
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= ZERO + 9
}

function expectLf(bytes: Buffer, at: number): void {
  if (bytes[at] !== LF) throw new ParseError('A carriage return is not followed by a line feed.')
}
