import { DatabaseSync } from 'node:sqlite'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { z } from 'zod'
import { readConfig } from '#shared/config.ts'

const NewTea = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100 }),
  grams: Type.Integer({ minimum: 1 }),
})
const Id = Type.Object({ id: Type.Integer() })

/** Append to them. `user_version` counts those that a database has. */
const MIGRATIONS = [
  'create table teas (id integer primary key, name text not null) strict',
  'alter table teas add column grams integer not null default 0',
]

// Postgres (npm install @fastify/postgres): `await app.pg.query('… values ($1, $2) returning id', […])`, migrations on one client (`app.pg.transact`).
// Each call of SQLite stops this process until it is done, and while another process writes, until the timeout.
export const database: FastifyPluginAsyncTypebox = async (app) => {
  const { DATABASE_FILE } = readConfig(z.object({ DATABASE_FILE: z.string() }))
  const db = new DatabaseSync(DATABASE_FILE, { timeout: 5_000 }) // milliseconds to wait for one that migrates
  db.exec('begin immediate') // if several processes start at once, only one migrates
  const done = Number(db.prepare('pragma user_version').get()?.user_version)
  for (const migration of MIGRATIONS.slice(done)) db.exec(migration)
  db.exec(`pragma user_version = ${Math.max(done, MIGRATIONS.length)}; commit`) // a newer app may have done more
  db.exec('pragma journal_mode = wal; pragma busy_timeout = 50') // who reads does not wait; who writes gets 503 after 50 ms
  app.lifecycle.addCheck('database', () => {
    using file = new DatabaseSync(DATABASE_FILE, { readOnly: true }) // `db` would not see that it was deleted
    file.prepare('select id from teas').get()
  })
  app.lifecycle.onClose(() => db.close())

  const insert = db.prepare('insert into teas (name, grams) values (?, ?)')
  const select = db.prepare('select id, name, grams from teas where id = ?')

  app.post('/teas', { schema: { body: NewTea } }, async (request, reply) => {
    const { name, grams } = request.body
    const { lastInsertRowid: id } = insert.run(name, grams)
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
