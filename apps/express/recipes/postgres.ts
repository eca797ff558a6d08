// npm install pg && npm install --save-dev @types/pg
// Move recipes/migrations and recipes/compose.postgres.yaml to the folder of the project, and add `DATABASE_URL: z.string()` to Settings in
// shared/config.ts. The SQL is in shared/postgres.ts: it is the same with any framework.
import { Router } from 'express'
import createError from 'http-errors'
import { Pool } from 'pg'
import type { AppOptions } from '#shared/app-options.ts'
import { findOrder, NewOrder, placeOrder, poolOptions, servePool } from '#shared/postgres.ts'
import { parseRequest } from '#shared/problem.ts'

export function postgres(options: AppOptions, { DATABASE_URL }: { DATABASE_URL: string }): Router {
  const pool = new Pool(poolOptions(DATABASE_URL))
  servePool(pool, options)

  return Router()
    .post('/orders', async (request, response) => {
      if (request.is(['json', '+json']) === false) throw createError(415) // a form of another site
      const id = await placeOrder(pool, parseRequest(NewOrder, request.body))
      response.status(201).location(`/orders/${id}`).json({ id })
    })
    .get('/orders/:id', async (request, response) => {
      const order = await findOrder(pool, request.params.id)
      if (order === undefined) throw createError(404)
      response.json(order)
    })
}
