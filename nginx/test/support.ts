import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, STATUS_CODES } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after } from 'node:test'
import { ask } from '@startgrid/wire/client.ts'
import { connect, type Target } from '@startgrid/wire/target.ts'
import { SECURITY_HEADERS } from '../../packages/shared/src/security.ts'
import { findNginx } from '../src/find/find.ts'
import type { Front } from '../src/render/render.ts'
import { type Instance, startNginx } from '../src/run/instance.ts'

/** The NGINX to test with, if there is one. */
const found = await findNginx()
export const nginx = found.kind === 'none' ? undefined : found
/** For `skip`: false, or the reason and the command that helps. */
export const skip = found.kind === 'none' && found.describe()

/** Any free port. */
export const ANY = { host: '127.0.0.1', port: 0 }

const instances: Instance[] = []
const directories: string[] = []

after(async () => {
  await Promise.allSettled(instances.map((instance) => instance.stop()))
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})

/** Starts the NGINX to test with. It is stopped after the last test. */
export async function start(options: Parameters<typeof startNginx>[1]): Promise<Instance> {
  if (nginx === undefined) throw new Error('skipped')
  const instance = await startNginx(nginx, options)
  instances.push(instance)
  return instance
}

/** A directory, which is removed after the last test. */
export function makeDirectory(prefix: string): string {
  const directory = mkdtempSync(join(tmpdir(), prefix))
  directories.push(directory)
  return directory
}

/** Where it listens first. */
export const addressOf = ({ addresses: [address = ANY] }: Instance) => address

/** The front of an app, by default on any free port. */
export function frontOf(upstream: Front['upstream'], more: Partial<Front> = {}): Front {
  return { name: 'app', topology: 'nginx', listen: ANY, upstream, ...more }
}

/** A server on a free port of 127.0.0.1, or on a unix socket. It ends with this process. */
export async function serve(listener: RequestListener, path?: string) {
  const server = createServer({ keepAliveTimeout: 65_000 }, listener)
  await once(path === undefined ? server.listen(0, ANY.host) : server.listen(path), 'listening')
  const { port = 0 } = Object(server.unref().address()) as { port?: number }
  return { server, address: { ...ANY, port } }
}

/** A bare app that remembers what it was sent. */
export type App = Awaited<ReturnType<typeof startApp>>

/** @param path of a unix socket, in place of a port */
export async function startApp(path?: string) {
  const seen: { method: string; url: string; headers: Map<string, string>; body: string }[] = []
  const waiting: (() => void)[] = []
  let connections = 0
  const { server, ...app } = await serve(async (request, response) => {
    const { method = '', url = '', rawHeaders: raw } = request
    const headers = new Map<string, string>()
    for (let at = 0; at < raw.length; at += 2) headers.set(`${raw[at]}`.toLowerCase(), `${raw[at + 1]}`)
    seen.push({ method, url, headers, body: await text(request) })
    if (url === '/app-error')
      return response.writeHead(503, { 'content-type': 'text/plain', 'x-mine': 'yes' }).end('from the app')
    if (url === '/unchanged') return response.writeHead(304, { etag: '"1"' }).end()
    if (url === '/slow') await new Promise<void>((resolve) => waiting.push(resolve))
    const document = JSON.stringify({ method, url })
    response.setHeader('x-request-id', request.headers['x-request-id'] ?? '')
    response.setHeader('content-length', Buffer.byteLength(document))
    response.writeHead(200, { 'content-type': 'application/json' }).end(document)
  }, path)
  server.on('connection', () => {
    connections++
  })
  server.on('upgrade', ({ headers }, socket) => {
    const head = `HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: ${headers.upgrade}`
    socket.end(`${head}\r\n\r\nhello`)
  })
  return {
    ...app,
    /** Requests so far, oldest first. */
    seen,
    /** Headers of the last request. */
    received: () => Object.fromEntries(seen.at(-1)?.headers ?? []),
    /** Connections so far. */
    connections: () => connections,
    /** Lets every waiting `/slow` go. */
    release() {
      for (const go of waiting.splice(0)) go()
    },
  }
}

/** For tests that need no other. */
export const app = await startApp()

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
export async function exchange(address: Target, sent: string): Promise<string> {
  const socket = connect(address, () => socket.write(sent))
  return Buffer.concat(await socket.toArray()).toString()
}

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
export function assertProblem(response: RawResponse, status: number, more: Record<string, string> = {}) {
  assert.equal(response.status, status)
  // RFC 9110 renamed 413; Node has the older name.
  const title = status === 413 ? 'Content Too Large' : STATUS_CODES[status]
  const body = `{"type":"about:blank","title":"${title}","status":${status}}`
  const own = { 'content-type': 'application/problem+json', 'content-length': String(body.length) }
  assertOwn(response, { ...own, ...more })
  assert.equal(response.body.toString(), body)
}
