import type { H3Event, HTTPError } from 'h3'
import { isAbort, PROBLEM, toFieldError, toProblem } from '#shared/problem.ts'

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. h3 calls `unhandled` what is not an HTTPError. */
export function onError(error: HTTPError, { context, req, res }: H3Event): Response {
  const { unhandled, cause, headers: own = [] } = error
  const inner = Object(cause).unhandled ? Object(cause).cause : cause // of `fromNodeHandler()` and its kin
  const thrown = unhandled ? inner : error
  const { status, headers, problem, level } = toProblem(unhandled ? thrown : expose(error))
  if (level && !isAbort(thrown, req.signal)) context.log[level]({ err: thrown }, 'failed')
  const { issues } = Object(unhandled ? undefined : error.data) // of `readValidatedBody` and its kin
  if (status < 500 && Array.isArray(issues)) problem.errors = issues.map(toFieldError)
  const all = new Headers(headers)
  // `errHeaders` are those of `handleCors()`. There may be several Set-Cookie.
  for (const [name, value] of [...res.errHeaders, ...(unhandled ? [] : own)])
    if (name === 'set-cookie') all.append(name, value)
    else all.set(name, value)
  all.set('content-type', PROBLEM)
  // srvx reads no more of a body that is too large: the next request of its connection would wait for KEEP_ALIVE_TIMEOUT_MS.
  if (status === 413) all.set('connection', 'close')
  return Response.json(problem, { status, headers: all })
}

function expose({ status, message }: HTTPError) {
  const detail = message === `HTTPError ${status}` ? undefined : message // that of an error without one
  return { expose: true, status, message: detail }
}
