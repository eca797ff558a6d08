import { LoadError } from './load-error.ts'

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** Methods whose request says how long its body is, even when there is none (RFC 9110, section 8.6). */
const WITH_CONTENT = new Set(['POST', 'PUT', 'PATCH'])

/** One request without body, the same for every send. */
export interface RequestOptions {
  method: string
  /** Path and query as they stand in the request line. */
  path: string
  headers: Readonly<Record<string, string>>
  /** Value of `host`, unless `headers` has one. */
  host: string
}

/** The bytes of a request, made once per load.
 * @throws {LoadError} if the parts do not make a request that a server can read in one way only */
export function requestBytes({ method, path, headers, host }: RequestOptions): Buffer {
  if (!TOKEN.test(method)) throw new LoadError(`${JSON.stringify(method)} is not an HTTP method.`)
  if (method === 'CONNECT') throw new LoadError('CONNECT opens a tunnel and cannot be used as a load.')
  if (!/^[!-~]+$/.test(path) || (!path.startsWith('/') && path !== '*')) {
    throw new LoadError(
      `The path ${JSON.stringify(path)} must begin with / and hold only visible ASCII characters.`,
    )
  }
  const lines = [`${method} ${path} HTTP/1.1`]
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()))
  if (!names.has('host')) lines.push(`host: ${host}`)
  if (WITH_CONTENT.has(method) && !names.has('content-length')) lines.push('content-length: 0')
  for (const [name, value] of Object.entries(headers)) lines.push(headerLine(name, value))
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

/** Whether the request itself asks the server to close the connection after its answer. */
export function asksToClose(headers: Readonly<Record<string, string>>): boolean {
  return Object.entries(headers).some(
    ([name, value]) => name.toLowerCase() === 'connection' && /(?:^|[\s,])close(?:$|[\s,])/i.test(value),
  )
}

function headerLine(name: string, value: string): string {
  if (!TOKEN.test(name)) throw new LoadError(`${JSON.stringify(name)} is not a header name.`)
  if (!/^[\t -~\x80-\xff]*$/.test(value)) {
    throw new LoadError(`The value of the header ${name} holds a character that a header cannot carry.`)
  }
  const lower = name.toLowerCase()
  if (lower === 'transfer-encoding' || (lower === 'content-length' && value.trim() !== '0')) {
    throw new LoadError(`Requests are sent without a body, so the header ${name} cannot be set to ${value}.`)
  }
  return `${name}: ${value}`
}
