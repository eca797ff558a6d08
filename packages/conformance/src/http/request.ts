import { type Header, headerValues } from './header.ts'

/** A request as data: nothing is added to it but Host and the length of the body. */
export interface Request {
  /** GET by default. */
  method?: string
  /** The request target, byte for byte. */
  target: string
  headers?: readonly Header[]
  /** Text is sent as UTF-8, with its content-length unless the headers frame it. */
  body?: string | Uint8Array
}

/** The method, which defaults to GET. */
export function methodOf(request: Request): string {
  return request.method ?? 'GET'
}

/** The request on the wire. */
export function requestBytes(request: Request, host: string): Buffer {
  const { target, headers = [], body } = request
  const lines = [`${methodOf(request)} ${target} HTTP/1.1`, `host: ${host}`]
  for (const [name, value] of headers) lines.push(`${name}: ${value}`)
  const payload = Buffer.from(body ?? '')
  if (body !== undefined && !isFramed(headers)) lines.push(`content-length: ${payload.length}`)
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), payload])
}

function isFramed(headers: readonly Header[]): boolean {
  return ['content-length', 'transfer-encoding'].some((name) => headerValues(headers, name).length > 0)
}

/** The request for a reader: one line, long values shortened. */
export function describeRequest(request: Request): string {
  const { headers = [], body } = request
  const parts = [`${methodOf(request)} ${shorten(request.target)}`]
  for (const [name, value] of headers) parts.push(`${name}: ${shorten(value)}`)
  if (body !== undefined) parts.push(`a body of ${Buffer.byteLength(body)} bytes`)
  return parts.join(', ')
}

const LONGEST = 100

/** Text on one line: what is not printable ASCII is escaped, what is long is cut. */
export function shorten(text: string, longest = LONGEST): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text
  return cut.replace(/[^\x20-\x7e…]/g, escapeCharacter)
}

function escapeCharacter(character: string): string {
  if (character === '\r') return '\\r'
  if (character === '\n') return '\\n'
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
