import { type Header, headerValues } from './request.ts'

/** Bytes of a body with the moment they arrived, in milliseconds of `performance.now()`. */
export interface Fragment {
  at: number
  bytes: Buffer
}

/** How the end of a body is known (RFC 9112 section 6.3). */
type Framing = 'none' | 'length' | 'chunked' | 'close'

/** A response as it stood on the wire. */
export interface Response {
  /** 100 to 999. */
  status: number
  headers: Header[]
  framing: Framing
  /** The connection may be used for another request. */
  reusable: boolean
  body: Buffer
  fragments: Fragment[]
  /** Violations of the syntax that do not prevent reading: odd whitespace, both framings, a chunk extension. */
  faults: string[]
}

/** Why a response could not be read. */
export type Failure = 'closed' | 'reset' | 'timeout' | 'malformed' | 'refused' | 'aborted'

/** There is no complete response; the message says what came instead. */
export class NoResponse extends Error {
  override name = 'NoResponse'
  readonly failure: Failure
  /** What had come of the response: its head, and as much of its body. */
  readonly part: Response | undefined

  constructor(failure: Failure, message: string, part?: Response) {
    super(message)
    this.failure = failure
    this.part = part
  }
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
const CHUNK = /^([\da-fA-F]{1,13})([\t ]*(?:;[\t -\xff]*)?)$/
const LENGTH = /^\d{1,15}$/

/** What is read next: a head, data, or one of three kinds of lines. */
type State = 'head' | 'data' | 'chunk' | 'end of chunk' | 'trailer'

/**
 * Reads the responses of one HTTP/1.1 connection. It can stop and continue at any byte, and skips informational responses (1xx).
 *
 * It refuses whatever makes the end of a response ambiguous (folded lines, differing lengths). Anything else that is not as RFC 9112 says is
 * read and noted as a fault, such as a bare LF, which its section 2.2 allows a reader to accept.
 */
export class ResponseReader {
  /** The last response is complete. The next `read` begins a new one. */
  complete = true
  /** Bytes of body read so far, without chunk framing. */
  bodyLength = 0
  // As in `Response`, valid once `complete`:
  status = 0
  reusable = true
  framing: Framing = 'none'
  /** Bytes of a body that are kept; all are counted. To be changed between two responses. */
  keep: number

  readonly #isHead: boolean
  #state: State = 'head'
  #head = ''
  /** What was read of a head or a line. */
  #partial = ''
  /** Bytes of body or of this chunk still to come. */
  #left = 0
  #fragments: Fragment[] = []
  /** Of its chunks. */
  #fault: string | undefined

  /** @param method of the requests: a response to HEAD has no body, whatever its headers say */
  constructor(method = 'GET', keep = 0) {
    this.#isHead = method === 'HEAD'
    this.keep = keep
  }

  /** Whether a byte of a response was read, and not yet its last. */
  get started(): boolean {
    return !this.complete && !(this.#state === 'head' && this.#partial === '')
  }

  /** What was kept of the body. */
  body(): Buffer {
    return Buffer.concat(this.#fragments.map(({ bytes }) => bytes))
  }

  /** The response that was read last, or what has come of it; undefined before the end of its head. */
  response(): Response | undefined {
    if (this.#head === '') return undefined
    const { status, framing, reusable } = this
    const lines = this.#head.split(/\r?\n/).slice(1, -2)
    const headers = lines.map((line): Header => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trim()]
    })
    const faults = faultsOf(this.#head, lines, headers)
    if (this.#fault !== undefined) faults.push(this.#fault)
    return { status, headers, framing, reusable, body: this.body(), fragments: this.#fragments, faults }
  }

  /**
   * Reads until the end of one response (`complete`) or of the input.
   * @returns the place after the last byte read; less than `to` only if `complete`
   * @throws {NoResponse} if this is not HTTP/1.x; the connection cannot be used any more
   */
  read(bytes: Buffer, from: number, to: number): number {
    if (this.complete) {
      this.complete = false
      this.bodyLength = 0
      this.#state = 'head'
      this.#head = ''
      if (this.#fragments.length > 0) this.#fragments = []
      this.#fault = undefined
    }
    let at = from
    while (at < to && !this.complete) {
      if (this.#state === 'head') at = this.#readHead(bytes, at, to)
      else if (this.#state === 'data') at = this.#readData(bytes, at, to)
      else at = this.#readLine(bytes, at, to)
    }
    return at
  }

  /** The peer closed the connection. @returns whether that is the proper end of a response, which is now `complete` */
  end(): boolean {
    if (this.complete || this.#state !== 'data' || this.framing !== 'close') return false
    this.complete = true
    return true
  }

  #readHead(bytes: Buffer, from: number, to: number): number {
    const text = this.#partial + bytes.toString('latin1', from, Math.min(to, from + LONGEST_HEAD))
    const [head, minor, status] = HEAD.exec(text) ?? []
    if (head === undefined) {
      const mayFollow = text.startsWith('HTTP/1.'.slice(0, text.length)) && !/\n\r?\n/.test(text)
      if (!mayFollow || text.length >= LONGEST_HEAD) throw malformed('head of HTTP/1.1', text)
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
    if (text.length > LONGEST_HEAD) throw malformed('line, because it is too long', text)
    this.#partial = isWhole ? '' : text
    if (!isWhole) return to
    const isCrLf = text.endsWith('\r')
    const line = isCrLf ? text.slice(0, -1) : text
    if (!isCrLf) this.#fault = 'a line that ends in LF without CR'
    if (this.#state === 'chunk') {
      const [, size, extension] = CHUNK.exec(line) ?? []
      if (size === undefined) throw malformed('size of a chunk', line)
      if (extension !== '') this.#fault = 'a chunk with an extension'
      this.#left = Number.parseInt(size, 16)
      this.#state = this.#left > 0 ? 'data' : 'trailer'
    } else if (this.#state === 'end of chunk') {
      if (line !== '') throw malformed('end of a chunk', line)
      this.#state = 'chunk'
    } else {
      // Trailers cannot change the framing: https://www.rfc-editor.org/rfc/rfc9110#section-6.5.1
      if (!TRAILER.test(line)) throw malformed('trailer', line)
      this.complete = line === ''
    }
    return end + 1
  }

  /** https://www.rfc-editor.org/rfc/rfc9112#section-6.3 */
  #beginBody(head: string, isPersistent: boolean): void {
    const { length, codings, connection } = framingOf(head)
    this.#head = head
    if (this.#isHead || [101, 204, 304].includes(this.status)) this.framing = 'none'
    else if (codings.at(-1) === 'chunked') this.framing = 'chunked'
    else this.framing = codings.length === 0 && length !== undefined ? 'length' : 'close'
    const isKept = !connection.includes('close') && (isPersistent || connection.includes('keep-alive'))
    this.reusable = isKept && this.framing !== 'close' && this.status !== 101
    this.#state = this.framing === 'chunked' ? 'chunk' : 'data'
    const lefts = { none: 0, length: length ?? 0, chunked: 0, close: Number.POSITIVE_INFINITY }
    this.#left = lefts[this.framing]
    this.complete = this.#state === 'data' && this.#left === 0
  }

  #readData(bytes: Buffer, from: number, to: number): number {
    const end = Math.min(to, from + this.#left)
    // Copied, because the caller may use its buffer again.
    if (this.bodyLength < this.keep)
      this.#fragments.push({ at: performance.now(), bytes: Buffer.from(bytes.subarray(from, end)) })
    this.bodyLength += end - from
    this.#left -= end - from
    if (this.#left > 0) return end
    if (this.framing === 'chunked') this.#state = 'end of chunk'
    else this.complete = true
    return end
  }
}

/** @throws {NoResponse} if lengths differ, or one is no number */
function framingOf(head: string) {
  const lengths: string[] = []
  const codings: string[] = []
  const connection: string[] = []
  for (const [, name = '', value = ''] of head.matchAll(FRAMING)) {
    const kind = name.toLowerCase()
    if (kind === 'content-length') lengths.push(value.trim())
    else (kind === 'connection' ? connection : codings).push(...(value.toLowerCase().match(/[^,\s]+/g) ?? []))
  }
  const [length] = lengths.map(Number)
  if (lengths.some((text) => !LENGTH.test(text) || Number(text) !== length))
    throw malformed('content-length', lengths.join(', '))
  return { length, codings, connection }
}

/** What a strict reader would not accept. */
function faultsOf(head: string, lines: readonly string[], headers: readonly Header[]): string[] {
  const faults: string[] = []
  if (/[^\r]\n/.test(head)) faults.push('a line that ends in LF without CR')
  if (/^\S+ \d+\r?\n/.test(head)) faults.push('no space behind the status')
  for (const line of lines)
    if (!/^[^:]+: [^ \t](?:.*[^ \t])?$/.test(line))
      faults.push(`odd whitespace in the header ${JSON.stringify(line)}`)
  const codings = headerValues(headers, 'transfer-encoding')
  // RFC 9112 section 6.2: not both.
  if (codings.length > 0 && headerValues(headers, 'content-length').length > 0)
    faults.push('both transfer-encoding and content-length')
  if (codings.some((coding) => coding.toLowerCase() !== 'chunked'))
    faults.push(`the transfer-encoding ${codings.join(', ')}`)
  return faults
}

function malformed(what: string, text: string): NoResponse {
  return new NoResponse('malformed', `no valid ${what}: ${JSON.stringify(text.slice(0, 200))}`)
}
