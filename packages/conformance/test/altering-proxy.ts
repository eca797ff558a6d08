import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { NoResponse, type Response, ResponseReader } from '@startgrid/wire/reader.ts'
import { type Header, headerValue } from '@startgrid/wire/request.ts'
import { connect, type Target } from '@startgrid/wire/target.ts'

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
    const upstream = connect(target)
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
  const asked: Asked[] = []
  const read = requestReader((request) => asked.push(request))
  client.on('data', (bytes: Buffer) => {
    const changed = change(bytes.toString('latin1'))
    upstream.write(changed, 'latin1')
    read(changed)
  })
  let request: Asked | undefined
  let reader = new ResponseReader()
  let raw = Buffer.alloc(0)
  const passOn = (bytes: Buffer) => {
    for (let from = 0; from < bytes.length; ) {
      if (reader.complete) {
        // A server refuses bytes that are no request, too.
        request = asked.shift() ?? { method: 'GET', target: '', headers: [] }
        reader = new ResponseReader(request.method, Number.POSITIVE_INFINITY)
        raw = Buffer.alloc(0)
      }
      const end = reader.read(bytes, from, bytes.length)
      raw = Buffer.concat([raw, bytes.subarray(from, end)])
      from = end
      const response = reader.complete ? reader.response() : undefined
      if (response === undefined || request === undefined) continue
      const isMeant = alteration.of?.(request) ?? true
      client.write(isMeant ? altered(raw, response, request, alteration) : raw)
      if (isMeant && alteration.closes) client.end()
    }
  }
  upstream.on('close', () => client.end())
  upstream.on('data', (bytes: Buffer) => {
    try {
      passOn(bytes)
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error
      client.end()
    }
  })
}

/** Finds requests in what a client writes. @param found called as soon as the head of one was read */
function requestReader(found: (request: Asked) => void): (text: string) => void {
  let unread = ''
  /** Bytes of a body to skip; or its end, if it comes in chunks. */
  let body: number | string = 0
  return (text) => {
    unread += text
    for (;;) {
      const at = typeof body === 'number' ? 0 : unread.indexOf(body)
      const end = at + (typeof body === 'number' ? body : body.length)
      if (at < 0 || unread.length < end) return
      const [head] = /^.*?\r\n\r\n/s.exec(unread.slice(end)) ?? []
      unread = unread.slice(end + (head?.length ?? 0))
      body = 0
      if (head === undefined) return
      const [line = '', ...fields] = head.trimEnd().split('\r\n')
      const [method = '', target = ''] = line.split(' ')
      const headers = fields.map((field): Header => {
        const [name = '', ...value] = field.split(': ')
        return [name, value.join(': ')]
      })
      found({ method, target, headers })
      body = headerValue(headers, 'transfer-encoding')
        ? '\r\n0\r\n\r\n'
        : Number(headerValue(headers, 'content-length') ?? 0)
    }
  }
}

function altered(raw: Buffer, response: Response, request: Asked, { head, body }: Alteration): Buffer {
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
