import type { Context, Middleware } from 'koa'
import type { ZodError } from 'zod'
import { PROBLEM_JSON } from '#shared/http/contract.ts'
import { errorStatus, type FieldError, HttpProblem, problem } from '#shared/http/problem.ts'
import { isClientAbort, type Logger } from '#shared/process/log.ts'

/** Empty error responses, such as Koa's 404 and the router's 405 and 501, become problem details (RFC 9457). */
export const errors: Middleware = async (ctx, next) => {
  await next()
  if (ctx.status === 501) ctx.remove('allow') // the router sets it there too, and empty on an unknown path
  if (ctx.status >= 400 && ctx.body === undefined && ctx.respond !== false) sendProblem(ctx, ctx.status)
}

/**
 * Replaces `ctx.onerror`, which would remove the security headers and send plain text. The cause of a failure is in the log only.
 * A `ZodError` is a 400 that names the fields, so routes use `schema.parse` for requests only, and `safeParse` for other data.
 */
export function sendError(this: Context, error: unknown): void {
  // Koa calls this without an error at the end of every response, and twice for a stream that fails.
  if (error === null || error === undefined || error === this.state.failure) return
  this.state.failure = error
  this.app.emit('error', error, this)
  const { res } = this
  if (res.headersSent || !this.writable) {
    // The client can only learn from a closed connection that the response is incomplete.
    if (!res.writableEnded) res.destroy()
    return
  }
  // Of `ctx.throw`, such as `www-authenticate`.
  if (error instanceof Error && 'headers' in error) this.set(error.headers as Record<string, string>)
  if (isZodError(error)) sendProblem(this, 400, error.issues.map(toFieldError))
  else sendProblem(this, errorStatus(error), error instanceof HttpProblem ? error.errors : undefined)
  res.end(this.body)
}

/** Listens to Koa's `error` event. Other code may emit it without a context. */
export function logError(log: Logger): (error: unknown, ctx?: Context) => void {
  return (error, ctx) => {
    // The socket fails a moment before the response is destroyed. An upstream may reset its connection, too: that is a failure.
    const isGone = (ctx?.res.destroyed || ctx?.req.socket.destroyed) === true && isClientAbort(error)
    // An HttpProblem is a decision, not a failure.
    const isFailure = errorStatus(error) >= 500 && !isZodError(error) && !(error instanceof HttpProblem)
    if (isFailure && !isGone) (ctx?.log ?? log).error({ err: error }, 'failed')
  }
}

function sendProblem(ctx: Context, status: number, fields?: readonly FieldError[]): void {
  ctx.status = status
  ctx.type = PROBLEM_JSON
  ctx.body = problem(status, fields)
}

/** Compares the name, because `instanceof` would load Zod (17 MB) into apps that do not use it. */
function isZodError(error: unknown): error is ZodError {
  return error instanceof Error && error.name === 'ZodError'
}

function toFieldError({ path, message }: ZodError['issues'][number]): FieldError {
  return { field: path.join('.'), reason: message }
}
