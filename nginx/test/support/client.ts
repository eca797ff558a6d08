import assert from 'node:assert/strict'
import { STATUS_CODES } from 'node:http'
import { ask } from '@startgrid/wire/client.ts'
import { connect, type Target } from '@startgrid/wire/target.ts'
import { SECURITY_HEADERS } from '../../../packages/shared/src/security.ts'

export interface RawResponse {
  readonly status: number
  /** Names in lower case; a repeated one would be joined by `, `. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** A request; the headers are lines. */
export interface Sent {
  readonly target: string
  readonly method?: string
  readonly host?: string
  readonly headers?: readonly string[]
  readonly body?: string
}

/** One request on a connection of its own, and its response, which is read strictly. */
export async function request(
  address: Target,
  target: string,
  { host = 'example.test:81', headers: lines = [], ...options }: Omit<Sent, 'target'> = {},
): Promise<RawResponse> {
  const own = [`Host: ${host}`, 'Connection: close', ...lines].map((line): [string, string] => {
    const [name = '', ...value] = line.split(': ')
    return [name, value.join(': ')]
  })
  const response = await ask(address, { target, headers: own, ...options }, { timeoutMs: 60_000 })
  assert.deepEqual(response.faults, [])
  const headers: Record<string, string> = {}
  for (const [name, value] of response.headers) {
    const known = headers[name.toLowerCase()]
    headers[name.toLowerCase()] = known === undefined ? value : `${known}, ${value}`
  }
  return { status: response.status, headers, body: response.body }
}

/** Sends text as it is, and reads until the other side closes. */
export async function exchange(address: Target, text: string): Promise<string> {
  const socket = connect(address, () => socket.write(text))
  return Buffer.concat(await socket.toArray()).toString()
}

/** RFC 9110 renamed this one; Node has the older name. */
const RENAMED: Readonly<Record<number, string>> = { 413: 'Content Too Large' }

/** A response of NGINX itself: these headers and no others, beside its security headers and an id. */
export function assertOwn(response: RawResponse, expected: Record<string, string>): void {
  const { date, connection, 'x-request-id': id, ...headers } = response.headers
  const { 'x-request-id': sent, ...others } = expected
  assert.ok(date !== undefined && connection !== undefined)
  assert.match(id ?? '', /^[A-Za-z0-9_-]{1,64}$/)
  if (sent !== undefined) assert.equal(id, sent)
  assert.deepEqual(headers, { server: 'nginx', ...SECURITY_HEADERS, ...others })
}

/** An error of NGINX itself, with headers beyond those of every error. */
export function assertProblem(
  response: RawResponse,
  status: number,
  headers: Record<string, string> = {},
): void {
  assert.equal(response.status, status)
  const body = problemText(status)
  assertOwn(response, {
    'content-type': 'application/problem+json',
    'content-length': String(body.length),
    ...headers,
  })
  assert.equal(response.body.toString(), body)
}

function problemText(status: number): string {
  const title = RENAMED[status] ?? STATUS_CODES[status]
  return `{"type":"about:blank","title":"${title}","status":${status}}`
}
