import Router from '@koa/router'
import type { Context } from 'koa'

export const probes = new Router()

/** Alive until the process ends. */
probes.get('/livez', (ctx) => send(ctx, true))

/** Ready until the process is told to stop, unless a check fails. */
probes.get('/readyz', async (ctx) => send(ctx, await ctx.lifecycle.isReady()))

function send(ctx: Context, passes: boolean): void {
  ctx.status = passes ? 200 : 503
  ctx.set('cache-control', 'no-store')
  ctx.type = 'application/health+json'
  ctx.body = { status: passes ? 'pass' : 'fail' }
}
