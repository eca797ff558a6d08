import { once } from 'node:events'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { type ParsedUrlQuery, parse } from 'node:querystring'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import createError from 'http-errors'
import type { AppOptions } from '#shared/app-options.ts'
import { type Forwarded, readForwarded } from '#shared/forwarded.ts'
import { requireJson } from '#shared/media-type.ts'
import { requestId } from '#shared/request-id.ts'
import { readBody } from './read-body.ts'

/** Takes no other bytes, and no mark of their order. */
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** One request, and the methods to respond to it. */
export class Context<Name extends string = string> implements AppOptions {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly config: AppOptions['config']
  /** Its `signal` ends endless streams when the server stops. */
  readonly lifecycle: AppOptions['lifecycle']
  readonly #log: AppOptions['log']
  readonly #search: string
  readonly requestId: string
  /** As it was sent, without the query. */
  readonly path: string
  /** The client's address, and the scheme and host that it used, also behind a trusted proxy. */
  readonly forwarded: Forwarded
  /** The path of the route, such as `/hello/:name`; absent until a route matched. */
  route: string | undefined
  /** The decoded `:name` segments of the path. */
  params = {} as Record<Name, string>

  constructor(request: IncomingMessage, response: ServerResponse, { config, lifecycle, log }: AppOptions) {
    this.request = request
    this.response = response
    this.config = config
    this.lifecycle = lifecycle
    this.requestId = requestId(request.headers['x-request-id'])
    // A client may send the whole URL, as to a proxy: https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2
    const target = request.url?.replace(/^https?:\/\/[^/?]*\/?/i, '/') ?? '/'
    const end = target.indexOf('?')
    this.path = end < 0 ? target : target.slice(0, end)
    this.#search = end < 0 ? '' : target.slice(end + 1)
    this.#log = log
    this.forwarded = readForwarded(request, config.TRUST_PROXY)
  }

  /** Its lines contain the id of the request. */
  get log(): AppOptions['log'] {
    return this.#log.child({ requestId: this.requestId })
  }

  /** Parameters that are there more than once are arrays. */
  get query(): ParsedUrlQuery {
    return parse(this.#search)
  }

  /**
   * The body as JSON. It is not validated.
   * @throws {HttpError} 400, 413, 415
   */
  async readJson(): Promise<unknown> {
    requireJson(this.request.headers)
    const body = await readBody(this.request)
    try {
      return JSON.parse(utf8.decode(body))
    } catch {
      throw createError(400, 'The body is not JSON.')
    }
  }

  text(body: string, status = 200): void {
    this.send(status, 'text/plain; charset=utf-8', body)
  }

  json(value: unknown, status = 200): void {
    this.send(status, 'application/json', JSON.stringify(value))
  }

  html(body: string, status = 200): void {
    this.send(status, 'text/html; charset=utf-8', body)
  }

  /** Sends a stream, and destroys it in the end, also if the client has left. A failure before its first byte can still become a 500. */
  async stream(stream: Readable, status = 200, headers: OutgoingHttpHeaders = {}): Promise<void> {
    try {
      await once(stream, 'readable')
      if (!this.response.closed) await pipeline(stream, this.response.writeHead(status, headers))
    } finally {
      stream.destroy() // `pipeline` leaves it open if the response is closed already
    }
  }

  send(status: number, type: string, body: string): void {
    this.response
      .writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
      .end(body)
  }
}
