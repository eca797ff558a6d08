import { HttpProblem } from '#shared/http/http-problem.ts'
import { createProblem, describeError, PROBLEM_JSON, type Problem } from '#shared/http/problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { type Logger, logFailure } from '#shared/process/log.ts'
import type { Handler } from '../handler.ts'
import { idOf } from './request-id.ts'

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. */
export function handleError(error: unknown, request: Request, log: Logger): Response {
  if (isMalformedBody(error, request) || isAbort(error, request)) return sendProblem(400)
  const { status, headers, problem } = describeError(error)
  // An HttpProblem is a decision, not a failure.
  if (status >= 500 && !(error instanceof HttpProblem)) logFailure(log, idOf(request), error)
  return sendProblem(status, { headers, problem })
}

export const notFound: Handler = () => sendProblem(404)

/** For failures after a handler returned, such as a deleted file. Bun does not tell which request failed. */
export function sendFailure(log: Logger) {
  return (error: Error): Response => {
    log.error({ err: error }, 'failed')
    return sendProblem(500, { headers: SECURITY_HEADERS })
  }
}

interface ProblemOptions {
  headers?: Readonly<Record<string, string>>
  problem?: Problem
}

export function sendProblem(
  status: number,
  { headers, problem = createProblem(status) }: ProblemOptions = {},
): Response {
  return Response.json(problem, { status, headers: { ...headers, 'content-type': PROBLEM_JSON } })
}

/**
 * Bun's error for a body that is not JSON is a `SyntaxError` like that of `JSON.parse` in the app. But it has no stack, or another message if
 * there is no body.
 */
function isMalformedBody(error: unknown, { method, bodyUsed }: Request): boolean {
  if (!(error instanceof Error) || method === 'GET' || method === 'HEAD') return false
  const { message, stack } = error
  if (error instanceof SyntaxError)
    return bodyUsed ? stack === undefined : message === 'Unexpected end of JSON input'
  return message.startsWith('FormData ') || ('code' in error && error.code === 'ERR_FORMDATA_PARSE_ERROR')
}

/** The client left while its body was read. Nobody gets the response. */
function isAbort(error: unknown, { signal }: Request): boolean {
  return signal.aborted && error instanceof Error && error.name === 'AbortError'
}
