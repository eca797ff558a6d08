// npm install pg && npm install --save-dev @types/pg
// Move recipes/migrations and recipes/compose.postgres.yaml to the folder of the project, and add `DATABASE_URL: z.string()` to Settings in
// shared/config.ts. The SQL is in shared/postgres.ts: it is the same with any framework.
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { validator } from 'hono/validator'
import { Pool } from 'pg'
import type { AppOptions } from '#shared/app-options.ts'
import { requireJson } from '#shared/media-type.ts'
import { findOrder, NewOrder, placeOrder, poolOptions, servePool } from '#shared/postgres.ts'
import { parseRequest } from '#shared/problem.ts'

export function postgres(options: AppOptions, { DATABASE_URL }: { DATABASE_URL: string }) {
  const pool = new Pool(poolOptions(DATABASE_URL))
  servePool(pool, options)

  return new Hono()
    .post(
      '/orders',
      validator('header', requireJson),
      validator('json', (value) => parseRequest(NewOrder, value)),
      async (c) => {
        const id = await placeOrder(pool, c.req.valid('json'))
        return c.json({ id }, 201, { location: `/orders/${id}` })
      },
    )
    .get('/orders/:id', async (c) => {
      const order = await findOrder(pool, c.req.param('id'))
      if (order === undefined) throw new HTTPException(404)
      return c.json(order as object)
    })
}
