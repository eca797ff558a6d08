// npm install pg && npm install --save-dev @types/pg
// Move recipes/migrations and recipes/compose.postgres.yaml to the folder of the project, and add `DATABASE_URL: z.string()` to Settings in
// shared/config.ts. The SQL is in shared/postgres.ts: it is the same with any framework.
import { getRouterParam, H3, HTTPError, readValidatedBody } from 'h3'
import { Pool } from 'pg'
import type { AppOptions } from '#shared/app-options.ts'
import { requireJson } from '#shared/media-type.ts'
import { findOrder, NewOrder, placeOrder, poolOptions, servePool } from '#shared/postgres.ts'

export function postgres(options: AppOptions, { DATABASE_URL }: { DATABASE_URL: string }): H3 {
  const pool = new Pool(poolOptions(DATABASE_URL))
  servePool(pool, options)

  return new H3()
    .post('/orders', async (event) => {
      requireJson(event.req.headers) // h3's readers take any type
      const id = await placeOrder(pool, await readValidatedBody(event, NewOrder))
      event.res.status = 201
      event.res.headers.set('location', `/orders/${id}`)
      return { id }
    })
    .get('/orders/:id', async (event) => {
      const order = await findOrder(pool, getRouterParam(event, 'id') ?? '')
      if (order === undefined) throw new HTTPError({ status: 404 })
      return order
    })
}
