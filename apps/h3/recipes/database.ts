import { DatabaseSync } from 'node:sqlite'
import { getRouterParam, H3, HTTPError, readValidatedBody } from 'h3'
import { z } from 'zod'
import type { AppOptions } from '#shared/app-options.ts'
import { readConfig } from '#shared/config.ts'

const Tea = z.object({ name: z.string().min(1).max(100), grams: z.int().min(1) })

/** Append to them. `user_version` counts those that a database has. */
const MIGRATIONS = [
  'create table teas (id integer primary key, name text not null) strict',
  'alter table teas add column grams integer not null default 0',
]

// Postgres (npm install pg): a `Pool`, the same calls with `await pool.query(…)`, the check `pool.query('select 1')`, and `pool.end()`.
export function database({ health }: AppOptions): H3 {
  const { DATABASE_FILE } = readConfig(z.object({ DATABASE_FILE: z.string() }))
  const db = new DatabaseSync(DATABASE_FILE)
  const { user_version: done } = db.prepare('pragma user_version').get() ?? {}
  for (const migration of MIGRATIONS.slice(Number(done))) db.exec(migration)
  db.exec(`pragma user_version = ${MIGRATIONS.length}`)
  health.addCheck('database', () => db.prepare('select 1').get())
  health.onClose(() => db.close())

  const insert = db.prepare('insert into teas (name, grams) values (?, ?)')
  const select = db.prepare('select id, name, grams from teas where id = ?')

  return new H3()
    .post('/teas', async (event) => {
      const { name, grams } = await readValidatedBody(event, Tea)
      const { lastInsertRowid: id } = insert.run(name, grams)
      event.res.status = 201
      event.res.headers.set('location', `/teas/${id}`)
      return { id, name, grams }
    })
    .get('/teas/:id', (event) => {
      const tea = select.get(getRouterParam(event, 'id') ?? '')
      if (tea === undefined) throw new HTTPError({ status: 404 })
      return tea
    })
}
