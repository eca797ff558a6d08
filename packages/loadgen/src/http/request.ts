import { LoadError } from '../engine/load-error.ts'

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** Methods whose request says how long its body is, even when there is none (RFC 9110, section 8.6). */
const WITH_CONTENT = new Set(['POST', 'PUT', 'PATCH'])

export interface RequestOptions {
  method: string
  /** Path and query as they stand in the request line. */
  path: string
  headers: Readonly<Record<string, string>>
  /** Value of `host`, unless `headers` has one. */
  host: string
  /** Sent in UTF-8. */
  body?: string | undefined
  /** Ask the server to close the connection after its response. */
  close?: boolean
}

/**
 * A request in two parts: the path stands between them. Each character is one byte (`latin1`).
 * @throws {LoadError} if the parts do not make a request that a server can read in one way only
 */
export function requestParts({ method, path, headers, host, body, close }: RequestOptions): {
  before: string
  after: string
} {
  validateMethod(method)
  validatePath(path)
  const content = body === undefined ? undefined : Buffer.from(body)
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  const lines: string[] = []
  if (!names.has('host')) lines.push(`host: ${host}`)
  if (close && !asksToClose(headers)) lines.push('connection: close')
  if (content !== undefined || (WITH_CONTENT.has(method) && !names.has('content-length')))
    lines.push(`content-length: ${content?.length ?? 0}`)
  for (const [name, value] of Object.entries(headers)) {
    validateFraming(name, value, content)
    lines.push(headerLine(name, value))
  }
  const head = [' HTTP/1.1', ...lines].join('\r\n')
  return { before: `${method} `, after: `${head}\r\n\r\n${content?.toString('latin1') ?? ''}` }
}

/** Whether the request itself asks the server to close the connection after its response. */
export function asksToClose(headers: Readonly<Record<string, string>>): boolean {
  return Object.entries(headers).some(
    ([name, value]) => name.toLowerCase() === 'connection' && /(?:^|[\s,])close(?:$|[\s,])/i.test(value),
  )
}

function validateMethod(method: string): void {
  if (!TOKEN.test(method)) throw new LoadError(`${JSON.stringify(method)} is not an HTTP method.`)
  if (method === 'CONNECT') throw new LoadError('CONNECT opens a tunnel and cannot be used as a load.')
}

function validatePath(path: string): void {
  if (/^[!-~]+$/.test(path) && (path.startsWith('/') || path === '*')) return
  throw new LoadError(
    `The path ${JSON.stringify(path)} must begin with / and hold only visible ASCII characters.`,
  )
}

/** The headers that say where the request ends. */
function validateFraming(name: string, value: string, content: Buffer | undefined): void {
  const lower = name.toLowerCase()
  if (lower !== 'transfer-encoding' && lower !== 'content-length') return
  if (lower === 'content-length' && content === undefined && value.trim() === '0') return
  const length =
    content === undefined ? 'Requests are sent without a body' : 'The length of the body is known'
  throw new LoadError(`${length}, so the header ${name} cannot be set to ${value}.`)
}

function headerLine(name: string, value: string): string {
  if (!TOKEN.test(name)) throw new LoadError(`${JSON.stringify(name)} is not a header name.`)
  if (!/^[\t -~\x80-\xff]*$/.test(value)) {
    throw new LoadError(`The value of the header ${name} holds a character that a header cannot carry.`)
  }
  return `${name}: ${value}`
}
