// Add to Settings in shared/config.ts `DATABASE_FILE: z.string()`, and a value for tests to `createOptions` in shared/testing/app.ts.
import { Router } from 'express'
import createError from 'http-errors'
import { z } from 'zod'
import type { AppOptions } from '#shared/app-options.ts'
import { parseRequest } from '#shared/problem.ts'
import { openDatabase, retryLocked } from '#shared/sqlite.ts'

const Tea = z.object({ name: z.string().min(1).max(100), grams: z.int().min(1) })

const MIGRATIONS = [
  'create table teas (id integer primary key, name text not null) strict',
  'alter table teas add column grams integer not null default 0',
]

export function database({ lifecycle }: AppOptions, { DATABASE_FILE }: { DATABASE_FILE: string }): Router {
  const db = openDatabase(DATABASE_FILE, MIGRATIONS, lifecycle)
  const insert = db.prepare('insert into teas (name, grams) values (?, ?)')
  const select = db.prepare('select id, name, grams from teas where id = ?')

  return Router()
    .post('/teas', async (request, response) => {
      if (request.is(['json', '+json']) === false) throw createError(415) // a form of another site
      const { name, grams } = parseRequest(Tea, request.body)
      const { lastInsertRowid: id } = await retryLocked(() => insert.run(name, grams))
      response.status(201).location(`/teas/${id}`).json({ id, name, grams })
    })
    .get('/teas/:id', (request, response) => {
      const tea = select.get(request.params.id)
      if (tea === undefined) throw createError(404)
      response.json(tea)
    })
}
