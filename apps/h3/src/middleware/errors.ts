import type { H3Event, HTTPError } from 'h3'
import {
  createProblem,
  describeError,
  type FieldError,
  PROBLEM_JSON,
  type Problem,
} from '#shared/http/problem.ts'
import { logFailure } from '#shared/process/log.ts'

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. h3 calls `unhandled` what is not an HTTPError. */
export function handleError(error: HTTPError, event: H3Event): Response {
  const { context, req } = event
  if (error.status === 404 && context.matchedRoute === undefined) return sendProblem(createProblem(404))
  const errors = readIssues(error.data)
  const thrown = error.unhandled ? error.cause : error
  // An HTTPError without a message of its own has its status there.
  const isPublic = !error.unhandled && errors === undefined && !/^HTTPError \d/.test(error.message)
  const { status, headers, problem } = describeError(thrown, { isPublic, errors })
  // A client abort is not a failure. It interrupts the reading of a body.
  if (status >= 500 && !req.signal.aborted) logFailure(context.log, context.requestId, thrown)
  const own = Object.fromEntries(error.headers ?? [])
  return sendProblem(problem, { ...headers, ...own, ...(status === 413 && { connection: 'close' }) })
}

/** The fields that a schema refused: what h3's `getValidatedQuery`, `readValidatedBody` and others put into `data`. */
function readIssues(data: unknown): FieldError[] | undefined {
  const { issues } = Object(data) as { issues?: readonly { path?: readonly unknown[]; message: string }[] }
  return issues?.map(({ path = [], message }) => ({ field: path.map(nameOf).join('.'), reason: message }))
}

/** Standard Schema allows a name and an object with one. */
function nameOf(part: unknown): string {
  return String(typeof part === 'object' && part !== null && 'key' in part ? part.key : part)
}

export function sendProblem(problem: Problem, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(problem, {
    status: problem.status,
    headers: { ...headers, 'content-type': PROBLEM_JSON },
  })
}
