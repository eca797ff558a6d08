import { requestId } from '#shared/http/ids.ts'
import { PROBLEM_JSON, problem } from '#shared/http/problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { validateRequest } from '#shared/http/validate-request.ts'
import type { Handler, Response } from './connection.ts'

/** `GET /json` of the hello app, with the duties that the app on node has: it is what the study asks both. */
export function createApp(): Handler {
  return (params) => {
    const url = params.get('REQUEST_URI') ?? ''
    const id = requestId(params.get('HTTP_X_REQUEST_ID'))
    const refusal = validateRequest(url, params.get('HTTP_HOST'))
    if (refusal !== undefined) return respond(id, refusal, PROBLEM_JSON, problem(refusal))
    if (params.get('REQUEST_METHOD') !== 'GET' || url !== '/json')
      return respond(id, 404, PROBLEM_JSON, problem(404))
    return respond(id, 200, 'application/json; charset=utf-8', JSON.stringify({ hello: 'world' }))
  }
}

function respond(id: string, status: number, type: string, body: string): Response {
  const own = { 'x-request-id': id, 'content-type': type, 'content-length': Buffer.byteLength(body) }
  return { status, headers: { ...SECURITY_HEADERS, ...own }, body }
}
