import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Target } from '@startgrid/cli/arguments.ts'
import { type Header, headerValue } from '../src/http/header.ts'
import { type HttpResponse, readBody, readHead } from '../src/http/response.ts'
import { ByteSource, NoResponse } from '../src/http/source.ts'

/** What a defect may look at. */
export interface Asked {
  method: string
  target: string
  headers: Header[]
}

/** How the bytes between a client and a server change. */
export interface Alteration {
  /** Changes what the client has written, each piece as Latin-1. */
  request?: (text: string) => string
  /** Which responses change, and are sent in one piece; default all. */
  of?: (request: Asked) => boolean
  /** Changes the status line and the header section. */
  head?: (head: string, request: Asked) => string
  /** Changes the body, whose length is then declared. */
  body?: (body: Buffer) => string | Buffer
  /** Ends the connection after the response. */
  closes?: true
}

/**
 * A proxy that changes bytes. It repairs nothing: what is not changed passes as it is.
 * @param alteration none: every byte passes when it comes
 */
export async function startProxy(target: Target, alteration?: Alteration) {
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = 'socketPath' in target ? connect(target.socketPath) : connect(target)
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => {}))
    client.on('close', () => upstream.destroy())
    if (alteration !== undefined) return alter(client, upstream, alteration)
    client.pipe(upstream)
    upstream.pipe(client)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    target: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

function alter(client: Socket, upstream: Socket, alteration: Alteration): void {
  const { request: change = (text) => text } = alteration
  const sent = new ByteSource()
  const asked: Asked[] = []
  client.on('data', (bytes: Buffer) => {
    const changed = Buffer.from(change(bytes.toString('latin1')), 'latin1')
    upstream.write(changed)
    sent.push(changed)
  })
  const received = new ByteSource()
  let all = Buffer.alloc(0)
  upstream.on('data', (bytes: Buffer) => {
    all = Buffer.concat([all, bytes])
    received.push(bytes)
  })
  for (const source of [sent, received])
    for (const socket of [client, upstream])
      socket.on('close', () => source.end(new NoResponse('closed', 'the connection was closed')))
  const end = (error: unknown) => {
    if (!(error instanceof NoResponse)) throw error
    client.end()
  }
  readRequests(sent, asked).catch(end)
  const passOn = async (): Promise<void> => {
    for (let from = 0; ; ) {
      const head = await readHead(received)
      // A server refuses bytes that are no request, too.
      const request = asked.shift() ?? { method: 'GET', target: '', headers: [] }
      const response = await readBody(received, head, request.method)
      const raw = all.subarray(from, all.length - received.length)
      from += raw.length
      const isMeant = alteration.of?.(request) ?? true
      client.write(isMeant ? altered(raw, response, request, alteration) : raw)
      if (isMeant && alteration.closes) client.end()
    }
  }
  passOn().catch(end)
}

async function readRequests(source: ByteSource, asked: Asked[]): Promise<void> {
  for (;;) {
    const [method = '', target = ''] = (await source.line()).split(' ')
    const headers: Header[] = []
    for (let line = await source.line(); line !== ''; line = await source.line()) {
      const [name = '', ...value] = line.split(': ')
      headers.push([name, value.join(': ')])
    }
    asked.push({ method, target, headers })
    await source.take(Number(headerValue(headers, 'content-length') ?? 0))
    if (headerValue(headers, 'transfer-encoding') === undefined) continue
    for (let size = -1; size !== 0; ) {
      size = Number.parseInt(await source.line(), 16)
      await source.take(size + 2)
    }
  }
}

function altered(raw: Buffer, response: HttpResponse, request: Asked, { head, body }: Alteration): Buffer {
  const end = raw.indexOf('\r\n\r\n') + 2
  let section = raw.toString('latin1', 0, end)
  let content = raw.subarray(end + 2)
  if (body !== undefined && response.framing !== 'none') {
    content = Buffer.from(body(response.body))
    section = section.replace(/^(?:content-length|transfer-encoding):.*\r\n/gim, '')
    section += `content-length: ${content.length}\r\n`
  }
  return Buffer.concat([Buffer.from(`${head?.(section, request) ?? section}\r\n`, 'latin1'), content])
}
