import { STATUS_CODES } from 'node:http'
import {
  CONTENT_LIMIT,
  END_LENGTH,
  encodeRecord,
  HEADER_LENGTH,
  ProtocolStatus,
  RecordType,
  writeEnd,
  writeHeader,
} from './record.ts'

export type Headers = Readonly<Record<string, string | number>>

/** The empty record that ends STDOUT, and END_REQUEST. */
const TRAILER_LENGTH = HEADER_LENGTH + END_LENGTH

/**
 * The records of a complete response: STDOUT with head and body, its end, END_REQUEST.
 * @throws {TypeError} if a header is not valid, for example because it contains a line break
 */
export function encodeResponse(id: number, status: number, headers: Headers, body: string | Buffer): Buffer {
  const head = formatHead(status, headers)
  const length = head.length + Buffer.byteLength(body)
  if (length > CONTENT_LIMIT) return encodeLongResponse(id, head, body)
  const bytes = Buffer.allocUnsafe(HEADER_LENGTH + length + TRAILER_LENGTH)
  const content = writeHeader(bytes, 0, RecordType.stdout, id, length)
  const bodyAt = content + bytes.write(head, content, 'latin1')
  if (typeof body === 'string') bytes.write(body, bodyAt)
  else body.copy(bytes, bodyAt)
  writeTrailer(bytes, content + length, id)
  return bytes
}

/** Splits the response into as many records as needed. */
function encodeLongResponse(id: number, head: string, body: string | Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)])
  const records: Buffer[] = []
  for (let at = 0; at < content.length; at += CONTENT_LIMIT)
    records.push(encodeRecord(RecordType.stdout, id, content.subarray(at, at + CONTENT_LIMIT)))
  const trailer = Buffer.allocUnsafe(TRAILER_LENGTH)
  writeTrailer(trailer, 0, id)
  return Buffer.concat([...records, trailer])
}

function writeTrailer(bytes: Buffer, at: number, id: number): void {
  writeEnd(bytes, writeHeader(bytes, at, RecordType.stdout, id, 0), id, ProtocolStatus.requestComplete)
}

/** The head of a CGI response (RFC 3875 section 6.3), in Latin-1. */
function formatHead(status: number, headers: Headers): string {
  let head = `Status: ${status} ${STATUS_CODES[status] ?? ''}\r\n`
  for (const name in headers) {
    const value = String(headers[name])
    // Like node:http (checkInvalidHeaderChar): a line break would inject another header.
    if (!TOKEN.test(name) || NO_VALUE.test(value)) throw new TypeError(`The header ${name} cannot be sent.`)
    head += `${name}: ${value}\r\n`
  }
  return `${head}\r\n`
}

const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/
const NO_VALUE = /[^\t\x20-\x7e\x80-\xff]/
