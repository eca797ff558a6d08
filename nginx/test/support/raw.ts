import assert from 'node:assert/strict'
import { ask } from '@startgrid/wire/client.ts'
import { connect, type Target } from '@startgrid/wire/target.ts'

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
