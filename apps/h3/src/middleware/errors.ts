import type { H3Event, HTTPError } from 'h3'
import { type ZodError, z } from 'zod'
import { PROBLEM, toProblem } from '#shared/problem.ts'

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. h3 calls `unhandled` what is not an HTTPError. */
export function onError(error: HTTPError, { context, req }: H3Event): Response {
  const thrown = error.unhandled ? error.cause : error
  const { status, headers, problem } = toProblem(error.unhandled ? thrown : expose(error))
  if (status >= 500 && !req.signal.aborted) context.log.error({ err: thrown }, 'failed')
  // srvx reads no more of a body that is too large: the next request of its connection would wait for KEEP_ALIVE_TIMEOUT_MS.
  const rest = status === 413 ? { connection: 'close' } : {}
  return Response.json(problem, { status, headers: { ...headers, ...rest, 'content-type': PROBLEM } })
}

function expose({ status, headers = new Headers(), message, data }: HTTPError) {
  const { issues } = Object(data) as Partial<ZodError> // of `getValidatedQuery` and its kin
  if (issues) return new z.ZodError(issues)
  const detail = message === `HTTPError ${status}` ? undefined : message // that of an error without one
  return { expose: true, status, headers: Object.fromEntries(headers), message: detail }
}
