import { STATUS_CODES } from 'node:http'

/**
 * One connection of a FastCGI responder (https://fastcgi-archives.github.io/FastCGI_Specification.html), as NGINX uses it: one request at a time, whole
 * responses, and connections that stay open.
 */

const VERSION = 1
const HEADER_LENGTH = 8
/** Most bytes that one record can carry. */
const CONTENT_LIMIT = 65_535
/** Of all variables of a request. */
const PARAMS_LIMIT = 262_144

const BEGIN_REQUEST = 1
const ABORT_REQUEST = 2
const END_REQUEST = 3
const PARAMS = 4
const STDIN = 5
const STDOUT = 6

const RESPONDER = 1
const KEEP_CONNECTION = 1

export interface Response {
  status: number
  /** Without line breaks. */
  headers: Readonly<Record<string, string | number>>
  /** With the head, it has to fit into one record. */
  body: string
}

/** @param params the variables of CGI/1.1 (RFC 3875): a header is `HTTP_` and its name */
export type Handler = (params: ReadonlyMap<string, string>) => Response

/** What a connection needs of its socket. */
export interface Wire {
  write(bytes: Buffer): boolean
  pause(): void
  end(): void
  destroy(): void
}

/** A request that has begun and not ended. */
interface ActiveRequest {
  id: number
  keepConnection: boolean
  params: Buffer[]
  paramsEnded: boolean
}

export class Connection {
  readonly #wire: Wire
  readonly #handler: Handler
  #rest: Buffer = Buffer.alloc(0)
  #active: ActiveRequest | undefined
  #ended = false
  #draining = false

  constructor(wire: Wire, handler: Handler) {
    this.#wire = wire
    this.#handler = handler
  }

  /** Takes the next bytes. Bytes that no web server sends end the connection. */
  push(chunk: Buffer): void {
    if (this.#ended) return
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    while (bytes.length - at >= HEADER_LENGTH) {
      const content = at + HEADER_LENGTH
      const length = bytes.readUInt16BE(at + 4)
      const end = content + length + bytes.readUInt8(at + 6)
      if (bytes[at] !== VERSION) this.#refuse()
      if (end > bytes.length || this.#ended) break
      this.#receive(
        bytes.readUInt8(at + 1),
        bytes.readUInt16BE(at + 2),
        bytes.subarray(content, content + length),
      )
      at = end
    }
    this.#rest = bytes.subarray(at)
  }

  /** From now on the connection ends with the response to its request, at once if it has none. */
  drain(): void {
    this.#draining = true
    if (this.#active === undefined) this.#end()
  }

  #receive(type: number, id: number, content: Buffer): void {
    const active = this.#active
    if (type === BEGIN_REQUEST) this.#begin(id, content)
    // Section 3.3: records of a request that is not active are ignored.
    if (active?.id !== id) return
    if (type === PARAMS) this.#addParams(active, content)
    else if (type === STDIN && content.length === 0) this.#respond(active)
    else if (type === ABORT_REQUEST) this.#finish(active, writeEnd(Buffer.alloc(END_LENGTH), 0, id))
  }

  #begin(id: number, content: Buffer): void {
    const isResponder = content.length >= 8 && content.readUInt16BE(0) === RESPONDER
    if (!isResponder || this.#active !== undefined) this.#refuse()
    else {
      const keepConnection = (content.readUInt8(2) & KEEP_CONNECTION) !== 0
      this.#active = { id, keepConnection, params: [], paramsEnded: false }
    }
  }

  #addParams(active: ActiveRequest, content: Buffer): void {
    active.params.push(content)
    if (content.length === 0) active.paramsEnded = true
    if (active.params.length * CONTENT_LIMIT > PARAMS_LIMIT) this.#refuse()
  }

  #respond(active: ActiveRequest): void {
    const params = active.paramsEnded ? decodePairs(Buffer.concat(active.params)) : undefined
    if (params === undefined) this.#refuse()
    else this.#finish(active, encodeResponse(active.id, this.#handler(params)))
  }

  #finish(active: ActiveRequest, records: Buffer): void {
    this.#active = undefined
    // Stops reading from a web server that does not read, because unsent records would pile up.
    if (!this.#wire.write(records)) this.#wire.pause()
    if (this.#draining || !active.keepConnection) this.#end()
  }

  #end(): void {
    this.#ended = true
    this.#wire.end()
  }

  #refuse(): void {
    this.#ended = true
    this.#active = undefined
    this.#wire.destroy()
  }
}

/** Name-value pairs (section 3.4), as Latin-1 like the headers of `node:http`. @returns undefined if a length points behind the end */
function decodePairs(bytes: Buffer): Map<string, string> | undefined {
  const pairs = new Map<string, string>()
  // One call into C++, instead of two for each pair.
  const text = bytes.toString('latin1')
  let at = 0
  /** A length of 7 bits in one byte, or of 31 bits in four. */
  const readLength = (): number => {
    const first = bytes[at] ?? Number.POSITIVE_INFINITY
    if (first < 128) return bytes.readUInt8(at++)
    at += 4
    return at <= bytes.length ? bytes.readUInt32BE(at - 4) - 2 ** 31 : Number.POSITIVE_INFINITY
  }
  while (at < bytes.length) {
    const nameLength = readLength()
    const value = readLength() + at + nameLength
    if (value > bytes.length) return undefined
    pairs.set(text.slice(at, at + nameLength), text.slice(at + nameLength, value))
    at = value
  }
  return pairs
}

/** STDOUT with head and body, its end, and END_REQUEST, in one buffer. @throws {RangeError} if the output does not fit into a record */
function encodeResponse(id: number, { status, headers, body }: Response): Buffer {
  let output = `Status: ${status} ${STATUS_CODES[status] ?? ''}\r\n`
  for (const name in headers) output += `${name}: ${headers[name]}\r\n`
  output += `\r\n${body}`
  const length = Buffer.byteLength(output)
  const bytes = Buffer.allocUnsafe(HEADER_LENGTH + length + HEADER_LENGTH + END_LENGTH)
  const content = writeHeader(bytes, 0, STDOUT, id, length)
  bytes.write(output, content)
  writeEnd(bytes, writeHeader(bytes, content + length, STDOUT, id, 0), id)
  return bytes
}

/** END_REQUEST with an application status and a protocol status of 0. */
const END_LENGTH = HEADER_LENGTH + 8

function writeEnd(bytes: Buffer, at: number, id: number): Buffer {
  return bytes.fill(0, writeHeader(bytes, at, END_REQUEST, id, 8))
}

/** @returns where its content goes */
function writeHeader(bytes: Buffer, at: number, type: number, id: number, length: number): number {
  bytes.writeUInt8(VERSION, at)
  bytes.writeUInt8(type, at + 1)
  bytes.writeUInt16BE(id, at + 2)
  bytes.writeUInt16BE(length, at + 4)
  bytes.writeUInt16BE(0, at + 6)
  return at + HEADER_LENGTH
}
