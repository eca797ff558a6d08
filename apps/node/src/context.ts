import type { IncomingMessage, ServerResponse } from 'node:http'
import { readBody } from '#shared/http/body.ts'
import { type Forwarded, readForwarded } from '#shared/http/forwarded.ts'
import type { Health } from '#shared/http/health.ts'
import { HttpProblem } from '#shared/http/http-problem.ts'
import type { Config } from '#shared/process/config.ts'
import { type Logger, withoutQuery } from '#shared/process/log.ts'

interface Services {
  log: Logger
  /** Its `signal` ends endless streams when the server stops. */
  health: Health
  trustProxy: Config['trustProxy']
  shouldShed: (response: ServerResponse) => boolean | Promise<boolean>
}

/** One request, and the methods to respond to it. */
export class Context<Name extends string = string> {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  readonly log: Services['log']
  readonly health: Services['health']
  /** The path of the route, such as `/hello/:name`; absent until a route matched. */
  route: string | undefined
  /** The decoded `:name` segments of the path. */
  params = {} as Record<Name, string>
  readonly shouldShed: Services['shouldShed']
  readonly #trustProxy: Services['trustProxy']
  #forwarded: Forwarded | undefined

  constructor(request: IncomingMessage, response: ServerResponse, services: Services) {
    this.request = request
    this.response = response
    this.requestId = String(request.headers['x-request-id']) // `protect` sets it
    this.log = services.log
    this.health = services.health
    this.shouldShed = services.shouldShed
    this.#trustProxy = services.trustProxy
  }

  /** The path as it was sent, without the query. */
  get path(): string {
    return withoutQuery(this.request.url ?? '/')
  }

  /** `http` or `https`: behind a trusted proxy, what the client used. */
  get protocol(): Forwarded['protocol'] {
    return this.#readForwarded().protocol
  }

  /** Name and port that the client asked for; empty for HTTP/1.0 without a Host. */
  get host(): string {
    return this.#readForwarded().host
  }

  /** The client's address; undefined if the peer has none and names none. */
  get client(): string | undefined {
    return this.#readForwarded().client
  }

  #readForwarded(): Forwarded {
    const { socket, headers } = this.request
    this.#forwarded ??= readForwarded(socket.remoteAddress, (name) => headers[name], this.#trustProxy)
    return this.#forwarded
  }

  /** All values of a query parameter. */
  query(name: string): string[] | undefined {
    const { url = '/' } = this.request
    const values = new URLSearchParams(url.slice(this.path.length)).getAll(name)
    return values.length > 0 ? values : undefined
  }

  /**
   * The body as JSON, of at most 64 KiB. It is not validated.
   * @throws {HttpProblem} 400, 413 or 415
   */
  async readJson(): Promise<unknown> {
    const [type = ''] = (this.request.headers['content-type'] ?? '').split(';')
    if (type.trim().toLowerCase() !== 'application/json') throw new HttpProblem(415)
    const body = await readBody(this.request)
    try {
      return JSON.parse(body.toString())
    } catch (cause) {
      throw new HttpProblem(400, { cause })
    }
  }

  text(body: string, status = 200): void {
    this.send(status, 'text/plain; charset=utf-8', body)
  }

  json(value: unknown, status = 200): void {
    this.send(status, 'application/json; charset=utf-8', JSON.stringify(value))
  }

  html(body: string, status = 200): void {
    this.send(status, 'text/html; charset=utf-8', body)
  }

  send(status: number, type: string, body: string | Buffer): void {
    this.response
      .writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
      .end(body)
  }
}
