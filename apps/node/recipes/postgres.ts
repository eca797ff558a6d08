// npm install pg && npm install --save-dev @types/pg
// Move recipes/migrations and recipes/compose.postgres.yaml to the folder of the project, and add `DATABASE_URL: z.string()` to Settings in
// shared/config.ts. The SQL is in shared/postgres.ts: it is the same with any framework.
import createError from 'http-errors'
import { Pool } from 'pg'
import type { AppOptions } from '#shared/app-options.ts'
import { findOrder, NewOrder, placeOrder, poolOptions, servePool } from '#shared/postgres.ts'
import { parseRequest } from '#shared/problem.ts'
import { type Route, route } from '../src/router.ts'

export function postgres(options: AppOptions, { DATABASE_URL }: { DATABASE_URL: string }): Route[] {
  const pool = new Pool(poolOptions(DATABASE_URL))
  servePool(pool, options)

  return [
    route('POST', '/orders', async (context) => {
      const id = await placeOrder(pool, parseRequest(NewOrder, await context.readJson()))
      context.response.setHeader('location', `/orders/${id}`)
      context.json({ id }, 201)
    }),
    route('GET', '/orders/:id', async (context) => {
      const order = await findOrder(pool, context.params.id ?? '')
      if (order === undefined) throw createError(404)
      context.json(order)
    }),
  ]
}
