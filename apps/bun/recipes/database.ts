// Add to Settings in shared/config.ts `DATABASE_FILE: z.string()`, and a value for tests to `createOptions` in shared/testing/app.ts.
import { Database } from 'bun:sqlite'
import type { BunRequest } from 'bun'
import createError from 'http-errors'
import { z } from 'zod'
import type { AppOptions } from '#shared/app-options.ts'
import { parseRequest } from '#shared/problem.ts'
import { retryLocked } from '#shared/sqlite.ts'
import { readJson } from '../src/read-json.ts'

const Tea = z.object({ name: z.string().min(1).max(100), grams: z.int().min(1) })

/** Append to them. `user_version` counts those that a database has. */
const MIGRATIONS = [
  'create table teas (id integer primary key, name text not null) strict',
  'alter table teas add column grams integer not null default 0',
]

// Each call of SQLite stops this process until it is done.
export const database = ({ lifecycle }: AppOptions, { DATABASE_FILE }: { DATABASE_FILE: string }) => {
  const db = new Database(DATABASE_FILE)
  db.run('pragma busy_timeout = 5000') // milliseconds to wait for one that migrates
  db.run('begin immediate') // if several processes start at once, only one migrates
  const { user_version: done } = db.query('pragma user_version').get() as { user_version: number }
  for (const migration of MIGRATIONS.slice(done)) db.run(migration)
  db.run(`pragma user_version = ${Math.max(done, MIGRATIONS.length)}; commit`) // a newer app may have done more
  db.run('pragma journal_mode = wal')
  db.run('pragma busy_timeout = 0') // who reads does not wait for another process; who writes does so by `retryLocked`
  lifecycle.addCheck('database', () => {
    using file = new Database(DATABASE_FILE, { readonly: true }) // `db` would not see that it was deleted
    file.query('select id from teas').get()
  })
  lifecycle.onClose(() => db.close())

  return {
    '/teas': {
      POST: async (request: Request) => {
        const { name, grams } = parseRequest(Tea, await readJson(request))
        const insert = () => db.run('insert into teas (name, grams) values (?, ?)', [name, grams])
        const { lastInsertRowid: id } = await retryLocked(insert)
        return Response.json({ id, name, grams }, { status: 201, headers: { location: `/teas/${id}` } })
      },
    },

    '/teas/:id': {
      GET: ({ params }: BunRequest<'/teas/:id'>) => {
        const tea = db.query('select id, name, grams from teas where id = ?').get(params.id)
        if (tea === null) throw createError(404)
        return Response.json(tea)
      },
    },
  }
}
