import type { Context, Middleware } from 'koa'
import { describeError, type ErrorResponse, PROBLEM_JSON } from '#shared/http/problem.ts'
import { isClientAbort, type Logger } from '#shared/process/log.ts'

/** Errors are problem details (RFC 9457), also those without a body, such as Koa's 404 and the router's 405 and 501. */
export const errors: Middleware = async (ctx, next) => {
  try {
    await next()
  } catch (error) {
    if (ctx.headerSent) throw error
    ctx.app.emit('error', error, ctx)
    sendProblem(ctx, describeError(error))
  }
  if (ctx.status === 501) ctx.remove('allow') // the router sets it there too, and empty on an unknown path
  if (ctx.status < 400 || ctx.body !== undefined || ctx.respond === false) return
  sendProblem(ctx, describeError({ status: ctx.status }))
}

/**
 * Replaces `ctx.onerror`, which Koa calls for what fails after all middleware: a stream, or a body that is not JSON. Koa's own would send
 * plain text, and leave a response open that has begun.
 */
export function failLate(this: Context, error: unknown): void {
  // Koa calls this without an error at the end of every response, and twice for a stream that fails.
  if (error === null || error === undefined || error === this.state.failure) return
  this.state.failure = error
  this.app.emit('error', error, this)
  const { res } = this
  if (!res.headersSent && this.writable) {
    sendProblem(this, describeError(error))
    res.end(this.body)
  } else if (!res.writableEnded) {
    res.destroy() // the client can only learn from a closed connection that the response is incomplete
  }
}

/** Listens to Koa's `error` event. The cause of a failure is in the log only. Other code may emit the event without a context. */
export function logError(log: Logger): (error: unknown, ctx?: Context) => void {
  return (error, ctx) => {
    // The socket fails a moment before the response is destroyed. An upstream may reset its connection, too: that is a failure.
    const isGone = (ctx?.res.destroyed || ctx?.req.socket.destroyed) === true && isClientAbort(error)
    if (describeError(error).status >= 500 && !isGone) (ctx?.log ?? log).error({ err: error }, 'failed')
  }
}

function sendProblem(ctx: Context, { status, headers, problem }: ErrorResponse): void {
  ctx.status = status
  ctx.set(headers)
  ctx.type = PROBLEM_JSON
  ctx.body = JSON.stringify(problem)
}
