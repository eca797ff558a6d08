import { message } from './message.ts'

/**
 * Requests that hide another one, which a server finds if it reads the end of the first one elsewhere. Each gives its length twice, in
 * spellings that only some parsers take, or has a body that looks like a request.
 */
export interface Smuggle {
  readonly name: string
  /** @param hidden the id of the request inside */
  bytes(id: string, hidden: string): string
}

/** Ways to write Transfer-Encoding that have divided readers (https://portswigger.net/web-security/request-smuggling). */
const CODINGS = [
  'Transfer-Encoding: chunked',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding\t: chunked',
  ' Transfer-Encoding: chunked',
  'Transfer-Encoding:\tchunked',
  'Transfer-Encoding:\x0bchunked',
  'Transfer-Encoding:\x0cchunked',
  'Transfer-Encoding: chunked\x0b',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: "chunked"',
  "Transfer-Encoding: 'chunked'",
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: identity, chunked',
  'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding:\r\n chunked',
  'Transfer-Encoding\r\n : chunked',
  'Transfer-Encoding:\n chunked',
  'X-Odd: y\nTransfer-Encoding: chunked',
  'X-Odd: y\rTransfer-Encoding: chunked',
  'Transfer_Encoding: chunked',
  'Transfer-Encoding\0: chunked',
  '\0Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked\0',
  'Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked',
  'Connection: Content-Length\r\nTransfer-Encoding: chunked',
]

/** And Content-Length: the true length and another one. */
const LENGTHS = [
  (length: number) => `Content-Length: ${length}\r\nContent-Length: 0`,
  (length: number) => `Content-Length: 0\r\nContent-Length: ${length}`,
  (length: number) => `Content-Length: 0, ${length}`,
  (length: number) => `Content-Length: +${length}`,
  (length: number) => `Content-Length: 0${length}`,
  (length: number) => `Content-Length : ${length}`,
  (length: number) => `Content-Length:\x0b${length}`,
  (length: number) => `Content_Length: ${length}`,
  (length: number) => `Connection: Content-Length\r\nContent-Length: ${length}`,
  (length: number) => `X-Odd: y\nContent-Length: ${length}`,
  (length: number) => `X-Odd: y\rContent-Length: ${length}`,
  (length: number) => `Content-Length: ${length}\r\nExpect: 100-continue`,
  (length: number) => `Content-Length: ${length}\r\nUpgrade: websocket\r\nConnection: Upgrade`,
  (length: number) => `Content-Length: ${length}\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings`,
  (length: number) => `Content-Length: ${length}`,
]

/** As long as the apps still take (BODY_LIMIT), and one more: refused before it has been read. */
const SIZES = [65_536, 65_537]

export const SMUGGLES: readonly Smuggle[] = [
  ...CODINGS.flatMap(bothFramings),
  ...LENGTHS.flatMap(byLength),
  ...bodies(),
]

/** Chunked first or Content-Length first: the hidden request lies behind the last chunk, or inside a chunk. */
function bothFramings(coding: string): Smuggle[] {
  const name = JSON.stringify(coding)
  return [
    {
      name: `${name}, hidden behind the last chunk`,
      bytes: (id, hidden) => {
        const body = `0\r\n\r\n${message(hidden)}`
        return message(id, {
          line: `POST /${id} HTTP/1.1`,
          fields: [`Content-Length: ${body.length}`, coding],
          body,
        })
      },
    },
    {
      name: `${name}, hidden in a chunk`,
      bytes: (id, hidden) => {
        const inner = message(hidden)
        const size = inner.length.toString(16)
        const fields = [`Content-Length: ${size.length + 2}`, coding]
        return message(id, { line: `POST /${id} HTTP/1.1`, fields, body: `${size}\r\n${inner}\r\n0\r\n\r\n` })
      },
    },
  ]
}

function byLength(field: (length: number) => string): Smuggle[] {
  return ['GET', 'POST', 'DELETE'].map((method) => ({
    name: `${method} with ${JSON.stringify(field(0))}`,
    bytes: (id, hidden) => {
      const body = message(hidden)
      return message(id, { line: `${method} /${id} HTTP/1.1`, fields: [field(body.length)], body })
    },
  }))
}

function bodies(): Smuggle[] {
  const ends = [
    ['bare LF in a chunk extension', (inner: string) => `3;a\nb\r\nabc\r\n0\r\n\r\n${inner}`],
    ['bare LF for CRLF everywhere', (inner: string) => `3\nabc\n0\n\n${inner}`],
    ['a request for a trailer', (inner: string) => `0\r\n${inner}`],
    [
      'a request in a chunk extension',
      (inner: string) => `3;${inner.replaceAll('\r\n', '\n')}\r\nabc\r\n0\r\n\r\n`,
    ],
    [
      'a chunk size over 2^64',
      (inner: string) => `1000000000000000${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`,
    ],
    ['a chunk size with a space inside', (inner: string) => `0 ${inner.length.toString(16)}\r\n\r\n${inner}`],
  ] as const
  return [
    ...ends.map(([name, make]) => ({
      name,
      bytes: (id: string, hidden: string) =>
        message(id, {
          line: `POST /${id} HTTP/1.1`,
          fields: ['Transfer-Encoding: chunked'],
          body: make(message(hidden)),
        }),
    })),
    ...SIZES.map((size) => ({
      name: `a body of ${size} bytes that ends in a request`,
      bytes: (id: string, hidden: string) => {
        const body = message(hidden).padStart(size, 'x')
        return message(id, { line: `POST /${id} HTTP/1.1`, fields: [`Content-Length: ${size}`], body })
      },
    })),
  ]
}
