import type { ZodError } from 'zod'
import { PROBLEM_JSON } from '#shared/http/contract.ts'
import { createProblem, errorStatus, type FieldError, HttpProblem } from '#shared/http/problem.ts'
import { SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import { type Logger, logFailure } from '#shared/process/log.ts'
import type { Handler } from '../handler.ts'
import { idOf } from './request-id.ts'

/**
 * Errors are problem details (RFC 9457). The cause of a failure is in the log only. A `ZodError` is a 400 that names the fields, so
 * routes use `schema.parse` for requests only, and `safeParse` for other data.
 */
export function handleError(error: unknown, request: Request, log: Logger): Response {
  if (isZodError(error)) return sendProblem(400, { errors: error.issues.map(toFieldError) })
  if (isMalformedBody(error, request) || isAbort(error, request)) return sendProblem(400)
  const status = errorStatus(error)
  // An HttpProblem is a decision, not a failure.
  if (status >= 500 && !(error instanceof HttpProblem)) logFailure(log, idOf(request), error)
  return sendProblem(status, error instanceof HttpProblem ? { errors: error.errors } : {})
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
  errors?: readonly FieldError[] | undefined
  headers?: Readonly<Record<string, string>>
}

export function sendProblem(status: number, { errors, headers }: ProblemOptions = {}): Response {
  return Response.json(createProblem(status, errors), {
    status,
    headers: { ...headers, 'content-type': PROBLEM_JSON },
  })
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

/** Compares the name, because `instanceof` would load Zod into apps that do not use it. */
function isZodError(error: unknown): error is ZodError {
  return error instanceof Error && error.name === 'ZodError'
}

function toFieldError({ path, message }: ZodError['issues'][number]): FieldError {
  return { field: path.join('.'), reason: message }
}
