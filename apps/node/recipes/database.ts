// Add to Settings in shared/config.ts `DATABASE_FILE: z.string()`, and a value for tests to `createOptions` in shared/testing/app.ts.
import createError from 'http-errors'
import { z } from 'zod'
import type { AppOptions } from '#shared/app-options.ts'
import { parseRequest } from '#shared/problem.ts'
import { openDatabase, retryLocked } from '#shared/sqlite.ts'
import { type Route, route } from '../src/router.ts'

const Tea = z.object({ name: z.string().min(1).max(100), grams: z.int().min(1) })

const MIGRATIONS = [
  'create table teas (id integer primary key, name text not null) strict',
  'alter table teas add column grams integer not null default 0',
]

export function database({ lifecycle }: AppOptions, { DATABASE_FILE }: { DATABASE_FILE: string }): Route[] {
  const db = openDatabase(DATABASE_FILE, MIGRATIONS, lifecycle)
  const insert = db.prepare('insert into teas (name, grams) values (?, ?)')
  const select = db.prepare('select id, name, grams from teas where id = ?')

  return [
    route('POST', '/teas', async (context) => {
      const { name, grams } = parseRequest(Tea, await context.readJson())
      const { lastInsertRowid: id } = await retryLocked(() => insert.run(name, grams))
      context.response.setHeader('location', `/teas/${id}`)
      context.json({ id, name, grams }, 201)
    }),

    route('GET', '/teas/:id', (context) => {
      const tea = select.get(context.params.id)
      if (tea === undefined) throw createError(404)
      context.json(tea)
    }),
  ]
}
