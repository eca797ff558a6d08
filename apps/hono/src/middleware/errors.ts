import type { Context, ErrorHandler, HonoRequest } from 'hono'
import { createMiddleware } from 'hono/factory'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { createProblem, describeError, PROBLEM_JSON, type Problem } from '#shared/http/problem.ts'
import { type Logger, logFailure } from '#shared/process/log.ts'

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. */
export function handleError(log: Logger): ErrorHandler {
  return async (thrown, c) => {
    const error = (await isMalformed(c.req, thrown))
      ? new HTTPException(400, { message: 'The body is malformed.', cause: thrown })
      : thrown
    const exception = error instanceof HTTPException ? error : undefined
    const { status, headers, problem } = describeError(error, exception && { isPublic: true })
    // A client abort is not a failure. It interrupts the reading of a body.
    if (status >= 500 && !c.req.raw.signal.aborted) logFailure(log, c.get('requestId'), error)
    // Hono's middleware puts headers such as www-authenticate there.
    for (const [name, value] of exception?.res?.headers ?? Object.entries(headers))
      c.header(name, value, { append: name === 'set-cookie' })
    if (status === 413) c.header('connection', 'close') // the Node adapter cuts it while the rest of the body comes in
    return sendProblem(c, problem)
  }
}

/**
 * Whether `c.req.json()`, `formData()` or `parseBody()` threw this. A validator of Hono throws an HTTPException for a malformed body, but
 * these throw a plain error. Hono keeps what they read, so the same error comes again.
 */
async function isMalformed(request: HonoRequest, error: Error): Promise<boolean> {
  const { text, formData } = request.bodyCache
  try {
    if (formData !== undefined) await request.formData()
    else if (text !== undefined) await request.json()
  } catch (again) {
    return again instanceof Error && again.message === error.message
  }
  return false
}

/** Wraps other thrown values, because Hono passes only instances of Error to `onError`. */
export const catchThrown = createMiddleware((_c, next) => next().catch(wrapThrown))

function wrapThrown(cause: unknown): never {
  throw new Error(`A route threw ${JSON.stringify(cause)}, which is not an Error.`, { cause })
}

/** Responds with 405 and the methods of the path. */
export function refuseMethod(c: Context, methods: string[]): Response {
  c.header('allow', methods.join(', '))
  return sendProblem(c, createProblem(405))
}

export function sendProblem(c: Context, problem: Problem): Response {
  c.header('content-length', undefined) // of the response in an HTTPException
  return c.json(problem, problem.status as ContentfulStatusCode, { 'content-type': PROBLEM_JSON })
}
