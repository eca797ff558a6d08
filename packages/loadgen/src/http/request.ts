import { type Header, requestBytes } from '@startgrid/wire/request.ts'
import { LoadError } from '../engine/load-error.ts'

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

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
  const own = Object.entries(headers)
  for (const [name, value] of own) validateHeader(name, value, content)
  const closing: Header[] = close && !asksToClose(headers) ? [['connection', 'close']] : []
  const request = { method, target: path, headers: [...closing, ...own], ...(content && { body: content }) }
  const text = requestBytes(request, host).toString('latin1')
  const at = method.length + 1
  return { before: text.slice(0, at), after: text.slice(at + path.length) }
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

function validateHeader(name: string, value: string, content: Buffer | undefined): void {
  if (!TOKEN.test(name)) throw new LoadError(`${JSON.stringify(name)} is not a header name.`)
  if (!/^[\t -~\x80-\xff]*$/.test(value))
    throw new LoadError(`The value of the header ${name} holds a character that a header cannot carry.`)
  const lower = name.toLowerCase()
  if (lower !== 'transfer-encoding' && lower !== 'content-length') return
  if (lower === 'content-length' && content === undefined && value.trim() === '0') return
  const length =
    content === undefined ? 'Requests are sent without a body' : 'The length of the body is known'
  throw new LoadError(`${length}, so the header ${name} cannot be set to ${value}.`)
}
