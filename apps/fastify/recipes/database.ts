// Add to Settings in shared/config.ts `DATABASE_FILE: z.string()`, and a value for tests to `createOptions` in shared/testing/app.ts.
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { openDatabase, retryLocked } from '#shared/sqlite.ts'

const NewTea = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100 }),
  grams: Type.Integer({ minimum: 1 }),
})
const Id = Type.Object({ id: Type.Integer() })

const MIGRATIONS = [
  'create table teas (id integer primary key, name text not null) strict',
  'alter table teas add column grams integer not null default 0',
]

/** `app.register(database, config)` */
export const database: FastifyPluginAsyncTypebox<{ DATABASE_FILE: string }> = async (
  app,
  { DATABASE_FILE },
) => {
  const db = openDatabase(DATABASE_FILE, MIGRATIONS, app.lifecycle)
  const insert = db.prepare('insert into teas (name, grams) values (?, ?)')
  const select = db.prepare('select id, name, grams from teas where id = ?')

  app.post('/teas', { schema: { body: NewTea } }, async (request, reply) => {
    const { name, grams } = request.body
    const { lastInsertRowid: id } = await retryLocked(() => insert.run(name, grams))
    return reply
      .code(201)
      .header('location', `/teas/${id}`)
      .send({ id: Number(id), name, grams })
  })

  app.get(
    '/teas/:id',
    { schema: { params: Id } },
    async (request, reply) => select.get(request.params.id) ?? reply.notFound(),
  )
}
