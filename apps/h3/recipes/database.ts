// Add to Settings in shared/config.ts `DATABASE_FILE: z.string()`, and a value for tests to `createOptions` in shared/testing/app.ts.
import { getRouterParam, H3, HTTPError, readValidatedBody } from 'h3'
import { z } from 'zod'
import type { AppOptions } from '#shared/app-options.ts'
import { requireJson } from '#shared/media-type.ts'
import { openDatabase, retryLocked } from '#shared/sqlite.ts'

const Tea = z.object({ name: z.string().min(1).max(100), grams: z.int().min(1) })

const MIGRATIONS = [
  'create table teas (id integer primary key, name text not null) strict',
  'alter table teas add column grams integer not null default 0',
]

export function database({ lifecycle }: AppOptions, { DATABASE_FILE }: { DATABASE_FILE: string }): H3 {
  const db = openDatabase(DATABASE_FILE, MIGRATIONS, lifecycle)
  const insert = db.prepare('insert into teas (name, grams) values (?, ?)')
  const select = db.prepare('select id, name, grams from teas where id = ?')

  return new H3()
    .post('/teas', async (event) => {
      requireJson(event.req.headers) // h3's readers take any type
      const { name, grams } = await readValidatedBody(event, Tea)
      const { lastInsertRowid: id } = await retryLocked(() => insert.run(name, grams))
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
