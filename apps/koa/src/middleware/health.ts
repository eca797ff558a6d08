import type { Context, Middleware } from 'koa'
import { HEALTH_JSON } from '#shared/http/contract.ts'
import { type Health, isProbe } from '#shared/http/health.ts'

declare module 'koa' {
  interface DefaultContext {
    /** Its `signal` ends endless streams when the server stops. */
    health: Health
  }
}

/** Alive until the process ends, ready until it is told to stop. It has no Router, because all requests pass through it. */
export function health(state: Health): Middleware {
  return (ctx, next) => (isProbe(ctx.path) ? respond(ctx) : next())

  async function respond(ctx: Context): Promise<void> {
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD'
    if (isRead) send(ctx, ctx.path === '/livez' || (await state.isReady()))
    else refuse(ctx)
  }
}

function refuse(ctx: Context): void {
  ctx.status = 405
  ctx.set('allow', 'HEAD, GET')
}

function send(ctx: Context, passes: boolean): void {
  ctx.status = passes ? 200 : 503
  ctx.set('cache-control', 'no-store')
  ctx.type = HEALTH_JSON
  ctx.body = { status: passes ? 'pass' : 'fail' }
}
