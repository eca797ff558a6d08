import type { H3Event, HTTPError } from 'h3'
import { type ZodError, z } from 'zod'
import { PROBLEM, toProblem } from '#shared/problem.ts'

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. h3 calls `unhandled` what is not an HTTPError. */
export function onError(error: HTTPError, { context, req }: H3Event): Response {
  const thrown = error.unhandled ? error.cause : error
  const { status, headers, problem } = toProblem(error.unhandled ? thrown : expose(error))
  if (status >= 500 && !req.signal.aborted) context.log.error({ err: thrown }, 'failed')
  return Response.json(problem, { status, headers: { ...headers, 'content-type': PROBLEM } })
}

function expose({ status, headers = new Headers(), message, data }: HTTPError) {
  const { issues } = Object(data) as Partial<ZodError> // of `getValidatedQuery` and its kin
  if (issues) return new z.ZodError(issues)
  return { expose: true, status, headers: Object.fromEntries(headers), message }
}
