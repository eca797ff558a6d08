import { HEALTH_JSON, PROBLEM_JSON } from '#shared/http/contract.ts'
import { FAIL, PASS } from '#shared/http/health.ts'
import { errorStatus, problem } from '#shared/http/problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { validateRequest } from '#shared/http/validate-request.ts'

/** What is used of njs's request object (https://nginx.org/en/docs/njs/reference.html#http). */
export interface NginxRequest {
  readonly method: string
  /** The query: an array where a name was repeated. */
  readonly args: Readonly<Record<string, string | string[] | undefined>>
  /** Every header as it came, repeated ones too. */
  readonly rawHeadersIn: readonly (readonly [name: string, value: string])[]
  readonly headersOut: Record<string, string | undefined>
  /** NGINX's own, and those of its configuration: `req_id`, `draining`. */
  readonly variables: Readonly<Record<string, string | undefined>>
  return(status: number, body?: string): void
  error(message: string): void
}

/** What a handler answers; 200 unless it says otherwise. NGINX adds the length, and leaves out the body for HEAD. */
export interface Answer {
  status?: number
  type?: string
  headers?: Readonly<Record<string, string>>
  body?: string
}

/** @param parameters the path segments that the route names, decoded */
export type Handler = (request: NginxRequest, parameters: readonly string[]) => Answer

/** Path patterns such as `/hello/:name`, and who answers their GET. */
export type Routes = Readonly<Record<string, Handler>>

/** What NGINX calls: `js_content app.answer`. */
export interface App {
  answer(request: NginxRequest): void
}

/** What answers health, what is unknown and what is wrong, and has its own routes beside. */
export function createApp(routes: Routes): App {
  const table = compile({ '/livez': live, '/readyz': ready, ...routes })
  return { answer: (request) => send(request, answer(request, table)) }
}

/**
 * Lets the script send the headers that every answer has. NGINX is faster at it (`add_header`), but cannot leave one out for the
 * answer that brings its own.
 */
export function withHeaders({ answer }: App): App {
  return {
    answer(request) {
      Object.assign(request.headersOut, SECURITY_HEADERS)
      request.headersOut['x-request-id'] = request.variables.req_id
      answer(request)
    },
  }
}

function answer(request: NginxRequest, table: Table): Answer {
  const target = request.variables.request_uri ?? ''
  if (validateRequest(target, hostOf(request)) !== undefined) return refuse(400)
  const query = target.indexOf('?')
  let found: Match | undefined
  try {
    found = find(table, query === -1 ? target : target.slice(0, query))
  } catch {
    // What is no UTF-8 reaches njs as bytes, which `decodeURIComponent` does not take.
    return refuse(400)
  }
  return found === undefined ? refuse(404) : call(found, request)
}

function call({ handler, parameters }: Match, request: NginxRequest): Answer {
  if (request.method === 'OPTIONS') return { status: 204 }
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405)
  try {
    return handler(request, parameters)
  } catch (error) {
    const status = errorStatus(error)
    if (status === 500) {
      const cause = error instanceof Error ? `${error.message}\n${error.stack}` : String(error)
      request.error(`${request.variables.req_id} failed: ${cause}`)
    }
    return refuse(status)
  }
}

function refuse(status: number): Answer {
  return { status, type: PROBLEM_JSON, body: problem(status) }
}

function send(request: NginxRequest, { status = 200, type, headers, body }: Answer): void {
  const { headersOut } = request
  if (type !== undefined) headersOut['content-type'] = type
  for (const name in headers) headersOut[name] = headers[name]
  try {
    request.return(status, body)
  } catch (error) {
    // The client has left. NGINX logs the request as it does all others; a line of level error would call it our failure.
    if (!(error instanceof Error && error.message === 'failed to send response')) throw error
  }
}

const NO_STORE = { 'cache-control': 'no-store' }

function live(): Answer {
  return { type: HEALTH_JSON, headers: NO_STORE, body: PASS }
}

function ready({ variables }: NginxRequest): Answer {
  if (variables.draining === '1') return { status: 503, type: HEALTH_JSON, headers: NO_STORE, body: FAIL }
  return live()
}

/** The Host; both of two, which NGINX refuses itself from 1.23 on. */
function hostOf({ rawHeadersIn }: NginxRequest): string {
  let hosts = ''
  for (const [name, value] of rawHeadersIn) {
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += hosts === '' ? value : `,${value}`
  }
  return hosts
}

interface Match {
  handler: Handler
  parameters: readonly string[]
}

interface Table {
  /** By path. */
  exact: Readonly<Record<string, Match | undefined>>
  patterns: readonly { segments: readonly string[]; handler: Handler }[]
}

function compile(routes: Routes): Table {
  // Without a prototype: a path is never the name of an inherited member.
  const exact: Record<string, Match> = Object.create(null)
  const patterns: { segments: string[]; handler: Handler }[] = []
  for (const [pattern, handler] of Object.entries(routes)) {
    if (pattern.includes(':')) patterns.push({ segments: pattern.split('/'), handler })
    else exact[pattern] = { handler, parameters: [] }
  }
  return { exact, patterns }
}

/** @param path as it was sent: `r.uri` is decoded, so that a `%2F` in it would be a slash */
function find({ exact, patterns }: Table, path: string): Match | undefined {
  const found = exact[path]
  if (found !== undefined) return found
  const parts = path.split('/')
  for (const { segments, handler } of patterns) {
    const parameters = match(segments, parts)
    if (parameters !== undefined) return { handler, parameters }
  }
  return undefined
}

/** The decoded parameters, if each segment is the same or a parameter that is not empty. */
function match(segments: readonly string[], parts: readonly string[]): string[] | undefined {
  if (parts.length !== segments.length) return undefined
  const parameters: string[] = []
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] ?? ''
    if (segments[index]?.startsWith(':') && part !== '') parameters.push(decodeURIComponent(part))
    else if (segments[index] !== part) return undefined
  }
  return parameters
}
