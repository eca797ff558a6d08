import { type Header, headerValues } from './header.ts'

/** A request as data: nothing is added to it but Host and the length of the body. */
export interface Request {
  /** GET by default. */
  method?: string
  /** The request target, byte for byte. */
  target: string
  version?: '1.0' | '1.1'
  /** null sends no Host at all; absent sends the address of the server. */
  host?: string | null
  headers?: readonly Header[]
  /** Text is sent as UTF-8, with its content-length unless the headers frame it. */
  body?: string | Uint8Array
}

/** The method, which defaults to GET. */
export function methodOf(request: Request): string {
  return request.method ?? 'GET'
}

/**
 * The request on the wire.
 * @param host the value of Host where the request does not say
 */
export function requestBytes(request: Request, host: string): Buffer {
  const { target, version = '1.1', headers = [], body } = request
  const lines = [`${methodOf(request)} ${target} HTTP/${version}`]
  if (request.host !== null) lines.push(`host: ${request.host ?? host}`)
  for (const [name, value] of headers) lines.push(`${name}: ${value}`)
  const payload = Buffer.from(body ?? '')
  if (body !== undefined && !isFramed(headers)) lines.push(`content-length: ${payload.length}`)
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), payload])
}

function isFramed(headers: readonly Header[]): boolean {
  return ['content-length', 'transfer-encoding'].some((name) => headerValues(headers, name).length > 0)
}

/** So many headers are shown. */
const SHOWN = 4

/** The request for a reader: one line, long values shortened. */
export function describeRequest(request: Request): string {
  const { version = '1.1', headers = [], body } = request
  const parts = [`${methodOf(request)} ${shorten(request.target)}${version === '1.0' ? ' HTTP/1.0' : ''}`]
  if (request.host !== undefined) parts.push(request.host === null ? 'no host' : `host: ${request.host}`)
  for (const [name, value] of headers.slice(0, SHOWN)) parts.push(`${name}: ${shorten(value)}`)
  if (headers.length > SHOWN) parts.push(`${headers.length - SHOWN} more headers`)
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
