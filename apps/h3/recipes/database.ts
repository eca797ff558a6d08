import { DatabaseSync } from 'node:sqlite'
import { getRouterParam, H3, HTTPError, readValidatedBody } from 'h3'
import { z } from 'zod'
import type { AppOptions } from '#shared/app-options.ts'
import { readConfig } from '#shared/config.ts'
import { requireJson } from '#shared/media-type.ts'

const Tea = z.object({ name: z.string().min(1).max(100), grams: z.int().min(1) })

/** Append to them. `user_version` counts those that a database has. */
const MIGRATIONS = [
  'create table teas (id integer primary key, name text not null) strict',
  'alter table teas add column grams integer not null default 0',
]

// Postgres (npm install pg): a `Pool`, `await pool.query('… values ($1, $2) returning id', […])`, migrations on one client (`pool.connect()`).
// Each call of SQLite stops this process until it is done, and while another process writes, until the timeout.
export function database({ lifecycle }: AppOptions): H3 {
  const { DATABASE_FILE } = readConfig(z.object({ DATABASE_FILE: z.string() }))
  const db = new DatabaseSync(DATABASE_FILE, { timeout: 5_000 }) // milliseconds to wait for one that migrates
  db.exec('begin immediate') // if several processes start at once, only one migrates
  const done = Number(db.prepare('pragma user_version').get()?.user_version)
  for (const migration of MIGRATIONS.slice(done)) db.exec(migration)
  db.exec(`pragma user_version = ${Math.max(done, MIGRATIONS.length)}; commit`) // a newer app may have done more
  db.exec('pragma journal_mode = wal; pragma busy_timeout = 50') // who reads does not wait; who writes gets 503 after 50 ms
  lifecycle.addCheck('database', () => {
    using file = new DatabaseSync(DATABASE_FILE, { readOnly: true }) // `db` would not see that it was deleted
    file.prepare('select id from teas').get()
  })
  lifecycle.onClose(() => db.close())

  const insert = db.prepare('insert into teas (name, grams) values (?, ?)')
  const select = db.prepare('select id, name, grams from teas where id = ?')

  return new H3()
    .post('/teas', async (event) => {
      requireJson(event.req.headers) // h3's readers take any type
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
