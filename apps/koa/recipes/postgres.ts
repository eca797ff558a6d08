// npm install pg && npm install --save-dev @types/pg
// Move recipes/migrations and recipes/compose.postgres.yaml to the folder of the project, and add `DATABASE_URL: z.string()` to Settings in
// shared/config.ts. The SQL is in shared/postgres.ts: it is the same with any framework.
import Router from '@koa/router'
import { Pool } from 'pg'
import type { AppOptions } from '#shared/app-options.ts'
import { findOrder, NewOrder, placeOrder, poolOptions, servePool } from '#shared/postgres.ts'
import { parseRequest } from '#shared/problem.ts'

export function postgres(options: AppOptions, { DATABASE_URL }: { DATABASE_URL: string }): Router {
  const pool = new Pool(poolOptions(DATABASE_URL))
  servePool(pool, options)

  return new Router()
    .post('/orders', async (ctx) => {
      if (ctx.is('json', '+json') === false) ctx.throw(415) // a form of another site
      const id = await placeOrder(pool, parseRequest(NewOrder, ctx.request.body))
      ctx.status = 201
      ctx.set('location', `/orders/${id}`)
      ctx.body = { id }
    })
    .get('/orders/:id', async (ctx) => {
      ctx.body = (await findOrder(pool, ctx.params.id ?? '')) ?? ctx.throw(404)
    })
}
