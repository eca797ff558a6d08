import type { Context, ErrorHandler } from 'hono'
import { createMiddleware } from 'hono/factory'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { PROBLEM_JSON } from '#shared/http/contract.ts'
import { createProblem, errorStatus, type FieldError, HttpProblem } from '#shared/http/problem.ts'
import { type Logger, logFailure } from '#shared/process/log.ts'

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. */
export function handleError(log: Logger): ErrorHandler {
  return (error, c) => {
    const status = errorStatus(error)
    // An HttpProblem is a decision, not a failure. A client abort is not a failure either; it interrupts the reading of a body.
    const isFailure = status >= 500 && !(error instanceof HttpProblem) && !c.req.raw.signal.aborted
    if (isFailure) logFailure(log, c.get('requestId'), error)
    // Hono's middleware puts headers such as www-authenticate there.
    const { headers } = (error instanceof HTTPException && error.res) || {}
    for (const [name, value] of headers ?? []) c.header(name, value)
    return sendProblem(c, status, error instanceof HttpProblem ? error.errors : undefined)
  }
}

/** Wraps other thrown values, because Hono passes only instances of Error to `onError`. */
export const catchThrown = createMiddleware((_c, next) => next().catch(wrapThrown))

function wrapThrown(cause: unknown): never {
  throw new Error(`A route threw ${JSON.stringify(cause)}, which is not an Error.`, { cause })
}

/** Responds with 405 and the methods of the path. */
export function refuseMethod(c: Context, methods: string[]): Response {
  c.header('allow', methods.join(', '))
  return sendProblem(c, 405)
}

export function sendProblem(c: Context, status: number, errors?: readonly FieldError[]): Response {
  return c.json(createProblem(status, errors), status as ContentfulStatusCode, {
    'content-type': PROBLEM_JSON,
  })
}
