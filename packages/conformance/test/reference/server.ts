import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Role } from '../../src/contract/subject.ts'
import { type Header, headerValues } from '../../src/http/header.ts'
import { ByteSource, NoResponse } from '../../src/http/source.ts'
import type { Target } from '../../src/http/target.ts'
import { respond } from './app.ts'
import { type Behaviour, CORRECT } from './behaviour.ts'
import type { Incoming, Outgoing } from './message.ts'

export interface Reference {
  target: Target
  /** One JSON object per line. */
  log(): string
  close(): Promise<void>
}

/**
 * A server that keeps the contract, apart from the given defect. It writes its own bytes: node:http would repair some of
 * the defects.
 */
export async function startReference(role: Role, defect: Partial<Behaviour> = {}): Promise<Reference> {
  const behaviour = { ...CORRECT, ...defect }
  const sockets = new Set<Socket>()
  const lines: string[] = []
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    void serve(socket, role, behaviour, lines)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    target: { host: '127.0.0.1', port: portOf(server) },
    log: () => lines.join(''),
    close: () => close(server, sockets),
  }
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy()
  server.close()
  await once(server, 'close')
}

async function serve(socket: Socket, role: Role, behaviour: Behaviour, lines: string[]): Promise<void> {
  const source = new ByteSource()
  socket.on('data', (bytes: Buffer) => source.push(bytes))
  socket.on('end', () => source.end(new NoResponse('closed', 'closed')))
  socket.on('error', () => source.end(new NoResponse('reset', 'reset')))
  socket.on('close', () => source.end(new NoResponse('closed', 'closed')))
  try {
    while (await serveOne(socket, source, role, behaviour, lines));
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error
  }
  socket.end()
}

/** Responds to one request; false when the connection is to be closed. */
async function serveOne(
  socket: Socket,
  source: ByteSource,
  role: Role,
  behaviour: Behaviour,
  lines: string[],
): Promise<boolean> {
  const request = await readRequest(socket, source, behaviour)
  if (typeof request === 'number') {
    socket.write(`HTTP/1.1 ${request} Refused\r\nconnection: close\r\n\r\n`)
    return false
  }
  const response = respond(role, behaviour, request)
  lines.push(...logOf(behaviour, request, response))
  const open = behaviour.staysOpen(response, request)
  const sent = send(socket, request, open ? response : closing(response), behaviour)
  if (behaviour.inOrder) await sent
  if (open && !behaviour.readsOn(request)) await source.settled()
  return open
}

const ROUTES = ['/hello/:name', '/assets/*']

function logOf(behaviour: Behaviour, request: Incoming, { status, headers }: Outgoing): string[] {
  const path = request.target.split('?', 1)[0] ?? ''
  const [traceparent = ''] = headerValues(request.headers, 'traceparent')
  const [, traceId] = /^00-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}$/.exec(traceparent) ?? []
  const line = {
    requestId: headers.find(([name]) => name === 'x-request-id')?.[1],
    method: request.method,
    path,
    route: ROUTES.find((route) => path.startsWith(route.slice(0, route.indexOf('/', 1) + 1))) ?? path,
    status,
    ms: 1,
    client: '127.0.0.1',
    ...(traceId === undefined ? {} : { trace_id: traceId }),
  }
  return behaviour.log(line, request).map((one) => `${JSON.stringify(one)}\n`)
}

function closing(response: Outgoing): Outgoing {
  return { ...response, headers: [...response.headers, ['connection', 'close']] }
}

async function readRequest(
  socket: Socket,
  source: ByteSource,
  behaviour: Behaviour,
): Promise<Incoming | number> {
  const line = await source.line()
  const [, method = '', target = '', version = ''] = behaviour.requestLine.exec(line) ?? []
  if (version === '') return behaviour.garbage
  if (!behaviour.patient && !source.peek().includes('\r\n\r\n')) return 400
  const headers: Header[] = []
  let size = line.length
  for (let field = await source.line(); field !== ''; field = await source.line()) {
    size += field.length
    const colon = field.indexOf(':')
    headers.push([field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()])
  }
  if (size > behaviour.headerLimit) return 431
  const host = headerValues(headers, 'host')
  if (host.length === 0 && version === '1.1' && !behaviour.allowsNoHost) return 400
  const [declared] = headerValues(headers, 'content-length')
  const length = declared === undefined ? undefined : Number(declared)
  const request = { method, target, version, headers, length, body: Buffer.alloc(0) }
  if (behaviour.continues && headerValues(headers, 'expect').length > 0)
    socket.write('HTTP/1.1 100 Continue\r\n\r\n')
  // A body that is too large stays unread: the connection is closed.
  if (length !== undefined && length > 65_536) return request
  return { ...request, body: await readBody(source, headers, length) }
}

async function readBody(source: ByteSource, headers: Header[], length = 0): Promise<Buffer> {
  if (headerValues(headers, 'transfer-encoding').length === 0) return source.take(length)
  const parts: Buffer[] = []
  for (let size = -1; size !== 0; ) {
    size = Number.parseInt(await source.line(), 16)
    parts.push(await source.take(size))
    await source.line()
  }
  return Buffer.concat(parts)
}

async function send(
  socket: Socket,
  request: Incoming,
  response: Outgoing,
  behaviour: Behaviour,
): Promise<void> {
  const pause = behaviour.pause(request)
  if (pause > 0) await sleep(pause)
  if (response.late === undefined) {
    const body = request.method === 'HEAD' ? Buffer.alloc(0) : response.body
    socket.write(behaviour.bytes(Buffer.concat([head(response), body]), request, response))
    return
  }
  await sendLate(socket, request, response, response.late)
}

async function sendLate(
  socket: Socket,
  { method, version }: Incoming,
  response: Outgoing,
  late: NonNullable<Outgoing['late']>,
): Promise<void> {
  const chunked = version === '1.1'
  const frame = (part: Buffer) =>
    chunked
      ? Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')])
      : part
  const headers: Header[] = chunked
    ? [...response.headers, ['transfer-encoding', 'chunked']]
    : response.headers
  socket.write(head({ ...response, headers }))
  if (method === 'HEAD') return
  if (response.body.length > 0) socket.write(frame(response.body))
  await sleep(late.ms, undefined, { ref: false })
  for (const part of late.parts.filter(({ length }) => length > 0)) socket.write(frame(part))
  if (chunked) socket.write('0\r\n\r\n')
}

function head({ status, headers }: Outgoing): Buffer {
  const date = new Date().toUTCString()
  const lines = [
    `HTTP/1.1 ${status} Reason`,
    `date: ${date}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}
