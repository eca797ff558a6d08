import { HEALTH_JSON, JSON_TEXT, PLAIN_TEXT, PROBLEM_JSON } from '#shared/http/contract.ts'
import { FAIL, PASS } from '#shared/http/health.ts'
import { errorStatus, HttpProblem, problem } from '#shared/http/problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { validateRequest } from '#shared/http/validate-request.ts'
import { createRouter } from './router.ts'

/** The part of njs's request object that is used here (https://nginx.org/en/docs/njs/reference.html#http). */
export interface NginxRequest {
  readonly method: string
  /** The query: an array where a name was repeated. */
  readonly args: Readonly<Record<string, string | string[] | undefined>>
  readonly headersIn: Readonly<Record<string, string | undefined>>
  /** Every header as it came, repeated ones too. */
  readonly rawHeadersIn: readonly (readonly [name: string, value: string])[]
  /** The body, which NGINX has read; at most 64 KiB. */
  readonly requestText?: string | undefined
  readonly headersOut: Record<string, string | undefined>
  /** NGINX's own, and those of its configuration: `req_id`, `draining`, `route`. */
  readonly variables: Record<string, string | undefined>
  return(status: number, body?: string): void
  error(message: string): void
}

/** What a handler responds with; 200 unless it says otherwise. NGINX adds the length, and leaves out the body for HEAD. */
export interface HandlerResponse {
  status?: number
  type?: string
  headers?: Readonly<Record<string, string>>
  body?: string
}

/** The segments of the path that the route names, decoded. */
export type Parameters = Readonly<Record<string, string>>

export type Handler = (
  request: NginxRequest,
  parameters: Parameters,
) => HandlerResponse | Promise<HandlerResponse>

/** The handlers of each path, such as `/hello/:name`, by method. A `GET` serves HEAD as well. */
export type Routes = Readonly<Record<string, Readonly<Record<string, Handler>>>>

/** What NGINX calls: `js_content app.respond`. */
export interface App {
  respond(request: NginxRequest): void | Promise<void>
}

/** The routes with what surrounds them: headers, validation, errors, health. */
export function createApp(routes: Routes): App {
  const handle = createRouter({ '/livez': { GET: live }, '/readyz': { GET: ready }, ...routes })

  // Not `async`: the old engine would pay for it with every request.
  return {
    respond(request) {
      Object.assign(request.headersOut, SECURITY_HEADERS)
      request.headersOut['x-request-id'] = request.variables.req_id
      try {
        const status = validateRequest(request.variables.request_uri ?? '', hostOf(request))
        if (status !== undefined) throw new HttpProblem(status)
        const response = handle(request)
        if (!('then' in response)) return send(request, response)
        return response.then(
          (late) => send(request, late),
          (error) => send(request, toProblem(request, error)),
        )
      } catch (error) {
        return send(request, toProblem(request, error))
      }
    },
  }
}

export function text(body: string, status = 200): HandlerResponse {
  return { status, type: PLAIN_TEXT, body }
}

export function json(value: unknown, status = 200): HandlerResponse {
  return { status, type: JSON_TEXT, body: JSON.stringify(value) }
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

/** Errors are problem details (RFC 9457). The cause of a failure is in the error log only. */
function toProblem(request: NginxRequest, error: unknown): HandlerResponse {
  const status = errorStatus(error)
  const errors = error instanceof HttpProblem ? error.errors : undefined
  if (status >= 500 && !(error instanceof HttpProblem)) {
    const cause = error instanceof Error ? `${error.message}\n${error.stack}` : String(error)
    request.error(`${request.variables.req_id} failed: ${cause}`)
  }
  return { status, type: PROBLEM_JSON, body: problem(status, errors) }
}

function send(request: NginxRequest, { status = 200, type, headers = {}, body }: HandlerResponse): void {
  const { headersOut } = request
  if (type !== undefined) headersOut['content-type'] = type
  for (const name in headers) headersOut[name] = headers[name]
  try {
    // For a redirect, njs takes the location instead of a body.
    request.return(status, headers.location ?? body)
  } catch (error) {
    // The client has left, which is not a failure. NGINX logs the request as usual.
    if (!(error instanceof Error && error.message === 'failed to send response')) throw error
  }
}

const NO_STORE = { 'cache-control': 'no-store' }

function live(): HandlerResponse {
  return { type: HEALTH_JSON, headers: NO_STORE, body: PASS }
}

function ready({ variables }: NginxRequest): HandlerResponse {
  if (variables.draining === '1') return { status: 503, type: HEALTH_JSON, headers: NO_STORE, body: FAIL }
  return live()
}

/** The Host. NGINX itself refuses a second one from 1.23 on; before, both are joined here, and the result is not valid. */
function hostOf({ rawHeadersIn }: NginxRequest): string {
  let hosts = ''
  for (const [name, value] of rawHeadersIn) {
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += hosts === '' ? value : `,${value}`
  }
  return hosts
}
