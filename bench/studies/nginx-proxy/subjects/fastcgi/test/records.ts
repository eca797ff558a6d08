import { equal, ok } from 'node:assert/strict'

/** FastCGI as a web server speaks it, written apart from `src/` so that the two check each other. */

export const BEGIN = 1
export const ABORT = 2
export const END = 3
export const PARAMS = 4
export const STDIN = 5
export const STDOUT = 6

export interface WireRecord {
  type: number
  id: number
  content: Uint8Array
  /** Bytes. */
  padding?: number
}

export function encode(...records: readonly WireRecord[]): Buffer {
  return Buffer.concat(
    records.map(({ type, id, content, padding = 0 }) => {
      const bytes = Buffer.alloc(8 + content.length + padding, 0xee)
      bytes.writeUInt8(1, 0)
      bytes.writeUInt8(type, 1)
      bytes.writeUInt16BE(id, 2)
      bytes.writeUInt16BE(content.length, 4)
      bytes.writeUInt8(padding, 6)
      bytes.set(content, 8)
      return bytes
    }),
  )
}

/** Name-value pairs, in Latin-1. */
export function encodePairs(pairs: Iterable<readonly [string, string]>): Buffer {
  return Buffer.concat(
    [...pairs].map(([name, value]) =>
      Buffer.concat([
        encodeLength(name.length),
        encodeLength(value.length),
        Buffer.from(name + value, 'latin1'),
      ]),
    ),
  )
}

export function encodeLength(length: number): Buffer {
  if (length < 128) return Buffer.of(length)
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(length)
  bytes.writeUInt8(bytes.readUInt8(0) | 0x80, 0)
  return bytes
}

/** @param flags 1 keeps the connection */
export function begin(id: number, { role = 1, flags = 1 } = {}): WireRecord {
  return { type: BEGIN, id, content: Uint8Array.of(0, role, flags, 0, 0, 0, 0, 0) }
}

/** A stream as one record and its end. */
export function stream(type: number, id: number, content: Uint8Array): WireRecord[] {
  const end = { type, id, content: new Uint8Array() }
  return content.length === 0 ? [end] : [{ type, id, content }, end]
}

/** What NGINX sends for `GET url`, and more variables if wanted. */
export function variables(url: string, more: Readonly<Record<string, string>> = {}): [string, string][] {
  return Object.entries({ REQUEST_METHOD: 'GET', REQUEST_URI: url, CONTENT_LENGTH: '', ...more })
}

/** All records of one request. */
export function request(id: number, pairs: readonly (readonly [string, string])[], body = ''): WireRecord[] {
  return [begin(id), ...stream(PARAMS, id, encodePairs(pairs)), ...stream(STDIN, id, Buffer.from(body))]
}

/** Cuts bytes into records. Fails unless they are whole records. */
export function decode(bytes: Buffer): WireRecord[] {
  const records: WireRecord[] = []
  for (let at = 0; at < bytes.length; ) {
    equal(bytes[at], 1, 'the version of a record')
    const end = at + 8 + bytes.readUInt16BE(at + 4) + bytes.readUInt8(at + 6)
    ok(end <= bytes.length, 'the last record is not whole')
    const content = bytes.subarray(at + 8, at + 8 + bytes.readUInt16BE(at + 4))
    records.push({ type: bytes.readUInt8(at + 1), id: bytes.readUInt16BE(at + 2), content })
    at = end
  }
  return records
}

export interface CgiResponse {
  status: number
  headers: Readonly<Record<string, string>>
  body: Buffer
}

/** Reads the response to one request: its STDOUT, which has to be ended, and an END_REQUEST of 0 and 0 as the last record. */
export function readResponse(records: readonly WireRecord[], id: number): CgiResponse {
  const own = records.filter((record) => record.id === id)
  const [closing, last] = own.slice(-2)
  equal(last?.type, END)
  equal(Buffer.from(last.content).toString('hex'), '0000000000000000')
  equal(closing?.type, STDOUT)
  equal(closing.content.length, 0)
  const output = Buffer.concat(own.slice(0, -1).map(({ content }) => content))
  const end = output.indexOf('\r\n\r\n')
  const lines = output.subarray(0, end).toString('latin1').split('\r\n')
  const { status = '', ...headers } = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  )
  return { status: Number(status.slice(0, 3)), headers, body: output.subarray(end + 4) }
}
