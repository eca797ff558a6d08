import { describeError, PROBLEM_JSON } from '#shared/http/problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import type { HandlerResponse, NginxRequest, Routes } from './handler.ts'
import { createRouter } from './router.ts'

/** The function that NGINX calls: `js_content app.respond`. */
interface App {
  respond(request: NginxRequest): void | Promise<void>
}

/** Wraps the routes with headers, errors and health checks. NGINX has refused malformed requests before. */
export function createApp(routes: Routes): App {
  const handle = createRouter({ '/livez': { GET: live }, '/readyz': { GET: ready }, ...routes })

  // Not `async`: on the old engine, that would slow down every request.
  return {
    respond(request) {
      try {
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

/** Errors are problem details (RFC 9457). The cause of a failure is in the error log only. */
function toProblem(request: NginxRequest, error: unknown): HandlerResponse {
  const { status, headers, problem } = describeError(error)
  // Compare the name: on njs's own engine, an object of a subclass of Error is only an Error.
  const isDecision = error instanceof Error && error.name === 'HttpProblem'
  if (status >= 500 && !isDecision) {
    const cause = error instanceof Error ? `${error.message}\n${error.stack}` : String(error)
    request.error(`${request.variables.req_id} failed: ${cause}`)
  }
  return { status, type: PROBLEM_JSON, headers, body: JSON.stringify(problem) }
}

function send(request: NginxRequest, { status = 200, type, headers = {}, body }: HandlerResponse): void {
  const { headersOut } = request
  // Not earlier: if a handler never settles, NGINX ends the request and adds the headers again.
  Object.assign(headersOut, SECURITY_HEADERS)
  headersOut['x-request-id'] = request.variables.req_id
  if (type !== undefined) headersOut['content-type'] = type
  for (const name in headers) if (name !== 'location') headersOut[name] = headers[name]
  try {
    // For a redirect, njs takes the location instead of a body, and sets the header.
    request.return(status, headers.location ?? body)
  } catch (error) {
    // A client abort is not a failure. NGINX logs the request as usual.
    if (!(error instanceof Error && error.message === 'failed to send response')) throw error
  }
}

const NO_STORE = { 'cache-control': 'no-store' }

function live(): HandlerResponse {
  return { type: 'application/health+json', headers: NO_STORE, body: '{"status":"pass"}' }
}

function ready({ variables }: NginxRequest): HandlerResponse {
  if (variables.draining !== '1') return live()
  return { status: 503, type: 'application/health+json', headers: NO_STORE, body: '{"status":"fail"}' }
}
