import Router, { type RouterContext } from '@koa/router'
import { HEALTH_JSON } from '#shared/http/contract.ts'
import type { Health } from '#shared/http/health.ts'

declare module 'koa' {
  interface DefaultContext {
    /** Its `signal` ends endless streams when the server stops. */
    health: Health
  }
}

/** Alive until the process ends, ready until it is told to stop. */
export function health(state: Health): ReturnType<Router['routes']> {
  const router = new Router({ sensitive: true, strict: true })
  router.get('/livez', (ctx) => send(ctx, true))
  router.get('/readyz', async (ctx) => send(ctx, await state.isReady()))
  return router.routes()
}

function send(ctx: RouterContext, passes: boolean): void {
  ctx.status = passes ? 200 : 503
  ctx.set('cache-control', 'no-store')
  ctx.type = HEALTH_JSON
  ctx.body = { status: passes ? 'pass' : 'fail' }
}
