import { plural } from '@startgrid/cli/text.ts'
import { decoded } from '@startgrid/loadgen/expectation.ts'
import { ask as askOnce, type Connection, openConnection } from '@startgrid/wire/client.ts'
import type { Response } from '@startgrid/wire/reader.ts'
import { type HeaderValues, headersOf, headerValue } from '@startgrid/wire/request.ts'
import type { Target } from '@startgrid/wire/target.ts'

/** A request as it is sent. The values of headers and the body are in no result. */
export interface Asked {
  /** Path and query as in the request line. */
  path: string
  /** Default GET. */
  method?: string
  headers?: HeaderValues
  /** Text is sent in UTF-8. */
  body?: string | Uint8Array
}

/** `GET /api/items`, and how, where that is not as usual. */
export function nameAsked(asked: Asked & { newConnections?: true; rate?: number }): string {
  const { method = 'GET', path, newConnections, rate } = asked
  const each = newConnections === undefined ? '' : ', a new connection each'
  return `${method} ${withoutQueryValues(path)}${each}${rate === undefined ? '' : `, ${rate} per second`}`
}

/** `/items?token=…&page=2`: the values of a query may be secret, but for small numbers. */
export function withoutQueryValues(path: string): string {
  return path.replace(/(?<=[?&;][^=&;\s]*=)(?!\d{1,4}(?:[&;\s]|$))[^&;\s]+/g, '…')
}

/** Bytes of a body that are kept and compared. */
const MOST_BYTES = 10 * 1024 * 1024

function requestOf({ method = 'GET', path, headers = {}, body }: Asked) {
  return { method, target: path, headers: headersOf(headers), ...(body !== undefined && { body }) }
}

/**
 * Sends one request on a connection of its own.
 * @throws {NoResponse} if there is no whole response in time
 */
export function ask(
  target: Target,
  asked: Asked,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Response> {
  return askOnce(target, requestOf(asked), { timeoutMs, signal, keep: MOST_BYTES })
}

/**
 * Sends it again and again, on one connection for as long as the server keeps that.
 * @returns what each of them got, with the number of its connection, from 1
 * @throws {NoResponse} if a new connection does not even get one response
 */
export async function* askOften(
  target: Target,
  asked: Asked,
  timeoutMs: number,
): AsyncGenerator<{ response: Response; connection: number }> {
  let connection: Connection | undefined
  let [count, served] = [0, 0]
  try {
    for (;;) {
      if (!connection?.isOpen) {
        connection?.destroy()
        connection = await openConnection(target, { timeoutMs, keep: MOST_BYTES })
        count++
        served = 0
      }
      // It may be closed without a word, but not before the first response.
      const closed = (error: unknown) => (served === 0 ? Promise.reject(error) : undefined)
      const response: Response | undefined = await connection.exchange(requestOf(asked)).catch(closed)
      if (response === undefined) continue
      served++
      yield { response, connection: count }
    }
  } finally {
    connection?.destroy()
  }
}

/** @param wanted undefined: any 2xx */
export function isExpected({ status }: Response, wanted: number | undefined): boolean {
  return wanted === undefined ? status >= 200 && status < 300 : status === wanted
}

/** The body as it was before it was compressed. */
export function bodyOf({ body, headers }: Response): Buffer {
  return decoded(body, headerValue(headers, 'content-encoding'))
}

/** The first 100 characters of a body, for a person's eyes: in a file, it might be a secret. */
export function quote(response: Response): string {
  const body = bodyOf(response)
  const text = body.toString('utf8', 0, 400).replace(/\s+/g, ' ').trim()
  // A character may be cut in two at the end.
  if (/\p{Cc}|\ufffd./su.test(text))
    return `${plural(body.length, 'byte')} of ${headerValue(response.headers, 'content-type') ?? 'no text'}`
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}
