/** Requests as bytes: every character of these strings is one byte on the wire, and nothing is added. */

/** Where a request is put together, an oddity can take the place of each part. */
interface Parts {
  /** `GET /<id> HTTP/1.1` by default. */
  readonly line?: string
  /** `Host: app.test` by default; empty: no such line. */
  readonly host?: string
  /** Lines of the header section, each without its CRLF. */
  readonly fields?: readonly string[]
  readonly body?: string
}

/**
 * A request with its id as target and as X-Request-Id, so that responses and logs show which request they belong to.
 * @param id letters, digits, dots and dashes, at most 64
 */
export function message(id: string, { line, host, fields = [], body = '' }: Parts = {}): string {
  const lines = [line ?? `GET /${id} HTTP/1.1`]
  if (host !== '') lines.push(host ?? 'Host: app.test')
  return [...lines, `X-Request-Id: ${id}`, ...fields, '', body].join('\r\n')
}

/** A chunked request with this body as it stands. */
export function chunkedMessage(id: string, body: string): string {
  return message(id, { line: `POST /${id} HTTP/1.1`, fields: ['Transfer-Encoding: chunked'], body })
}

/** The id of the request that is sent right behind the one with this id. */
export function idBehind(id: string): string {
  return `${id}.behind`
}
