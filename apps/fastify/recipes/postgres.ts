// npm install pg && npm install --save-dev @types/pg
// Move recipes/migrations and recipes/compose.postgres.yaml to the folder of the project, and add `DATABASE_URL: z.string()` to Settings in
// shared/config.ts. The SQL is in shared/postgres.ts: it is the same with any framework.
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { Pool } from 'pg'
import { findOrder, placeOrder, poolOptions, servePool } from '#shared/postgres.ts'

const NewOrder = Type.Object({
  tea: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  grams: Type.Integer({ minimum: 1, maximum: 100_000 }),
})
const Id = Type.Object({ id: Type.String() })

/** `app.register(postgres, config)` */
export const postgres: FastifyPluginAsyncTypebox<{ DATABASE_URL: string }> = async (
  app,
  { DATABASE_URL },
) => {
  const pool = new Pool(poolOptions(DATABASE_URL))
  servePool(pool, app)

  app.post('/orders', { schema: { body: NewOrder } }, async (request, reply) => {
    const id = await placeOrder(pool, request.body)
    return reply.code(201).header('location', `/orders/${id}`).send({ id })
  })

  app.get(
    '/orders/:id',
    { schema: { params: Id } },
    async (request, reply) => (await findOrder(pool, request.params.id)) ?? reply.notFound(),
  )
}
