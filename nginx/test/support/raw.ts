import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Address } from '../../src/render/address.ts'

/** A response read byte by byte, so that nothing in between can tidy it up. */
export interface RawResponse {
  readonly status: number
  /** Names in lower case; a repeated one would be joined by `, `. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/**
 * Sends text as it is and reads until the other side closes, so it should ask for `connection: close`.
 * @param onData called with everything received so far; true says that this was all, and ends the connection
 */
export function exchange(
  { host, port, ca }: Address,
  text: string,
  onData: (received: Buffer) => boolean = () => false,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0)
    const socket =
      ca === undefined
        ? connect({ host, port }, () => socket.write(text))
        : connectTls({ host, port, ca }, () => socket.write(text))
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      if (onData(received)) socket.end()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
}

/** After a 413 NGINX reads on for a while, so that the response is not lost to a reset; a client that has it can go. */
function isRefusal(received: Buffer): boolean {
  const text = received.toString('latin1')
  return / (?:400|413) /.test(text.slice(8, 14)) && text.endsWith('}')
}

/** A request; the headers are lines. A body has its length, unless it is chunked. */
export interface Sent {
  readonly target: string
  readonly method?: string
  readonly host?: string
  readonly headers?: readonly string[]
  readonly body?: string
}

/** One request on a connection of its own. */
export async function request(
  address: Address,
  target: string,
  options: Omit<Sent, 'target'> = {},
): Promise<RawResponse> {
  const { method = 'GET', host = 'example.test:81', headers = [], body = '' } = options
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers]
  const isSized = body !== '' && !headers.includes('Transfer-Encoding: chunked')
  const length = !isSized ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  return parse(await exchange(address, `${[...lines, ...length].join('\r\n')}\r\n\r\n${body}`, isRefusal))
}

/** Splits a response; a chunked body is put together. */
export function parse(bytes: Buffer): RawResponse {
  const end = bytes.indexOf('\r\n\r\n')
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  const rest = bytes.subarray(end + 4)
  const body = headers['transfer-encoding'] === 'chunked' ? unchunk(rest) : rest
  return { status: Number(first.split(' ')[1]), headers, body }
}

function unchunk(bytes: Buffer): Buffer {
  const parts: Buffer[] = []
  let at = 0
  for (;;) {
    const line = bytes.indexOf('\r\n', at)
    const size = Number.parseInt(bytes.subarray(at, line).toString('latin1'), 16)
    if (line === -1 || !(size > 0)) return Buffer.concat(parts)
    parts.push(bytes.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
}
