import { HttpProblem } from '#shared/http/http-problem.ts'

/** The part of njs's request object that the app uses (https://nginx.org/en/docs/njs/reference.html#http). */
export interface NginxRequest {
  readonly method: string
  /** The query. A repeated name has an array of values. */
  readonly args: Readonly<Record<string, string | string[] | undefined>>
  readonly headersIn: Readonly<Record<string, string | undefined>>
  /** The body, which NGINX has read; at most 64 KiB. */
  readonly requestText?: string | undefined
  readonly headersOut: Record<string, string | undefined>
  /** The client's address: behind a trusted proxy, what the proxy says. */
  readonly remoteAddress: string
  /** Variables of NGINX and of its configuration: `req_id`, `draining`, `route`; `client_scheme` and `client_host`, as the client used them. */
  readonly variables: Record<string, string | undefined>
  return(status: number, body?: string): void
  error(message: string): void
}

/** The response of a handler; the default status is 200. NGINX adds the length, and omits the body for HEAD. */
export interface HandlerResponse {
  status?: number
  type?: string
  headers?: Readonly<Record<string, string>>
  body?: string
}

/** The decoded values of the `:name` segments of the path. */
export type Parameters = Readonly<Record<string, string>>

export type Handler = (
  request: NginxRequest,
  parameters: Parameters,
) => HandlerResponse | Promise<HandlerResponse>

/** The handlers of each path, such as `/hello/:name`, by method. A `GET` handler also serves HEAD. */
export type Routes = Readonly<Record<string, Readonly<Record<string, Handler>>>>

export function text(body: string, status = 200): HandlerResponse {
  return { status, type: 'text/plain; charset=utf-8', body }
}

export function json(value: unknown, status = 200): HandlerResponse {
  return { status, type: 'application/json; charset=utf-8', body: JSON.stringify(value) }
}

/**
 * The body as JSON. It is not validated.
 * @throws {HttpProblem} 400 or 415
 */
export function readJson({ headersIn, requestText = '' }: NginxRequest): unknown {
  const [type = ''] = (headersIn['content-type'] ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/json') throw new HttpProblem(415)
  try {
    return JSON.parse(requestText)
  } catch (cause) {
    throw new HttpProblem(400, { cause })
  }
}
