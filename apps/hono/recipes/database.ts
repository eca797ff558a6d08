// Add to Settings in shared/config.ts `DATABASE_FILE: z.string()`, and a value for tests to `createOptions` in shared/testing/app.ts.
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { validator } from 'hono/validator'
import { z } from 'zod'
import type { AppOptions } from '#shared/app-options.ts'
import { requireJson } from '#shared/media-type.ts'
import { parseRequest } from '#shared/problem.ts'
import { openDatabase, retryLocked } from '#shared/sqlite.ts'

const Tea = z.object({ name: z.string().min(1).max(100), grams: z.int().min(1) })

const MIGRATIONS = [
  'create table teas (id integer primary key, name text not null) strict',
  'alter table teas add column grams integer not null default 0',
]

export function database({ lifecycle }: AppOptions, { DATABASE_FILE }: { DATABASE_FILE: string }) {
  const db = openDatabase(DATABASE_FILE, MIGRATIONS, lifecycle)
  const insert = db.prepare('insert into teas (name, grams) values (?, ?)')
  const select = db.prepare('select id, name, grams from teas where id = ?')

  return new Hono()
    .post(
      '/teas',
      validator('header', requireJson),
      validator('json', (value) => parseRequest(Tea, value)),
      async (c) => {
        const { name, grams } = c.req.valid('json')
        const { lastInsertRowid: id } = await retryLocked(() => insert.run(name, grams))
        return c.json({ id: Number(id), name, grams }, 201, { location: `/teas/${id}` })
      },
    )
    .get('/teas/:id', (c) => {
      const tea = select.get(c.req.param('id'))
      if (tea === undefined) throw new HTTPException(404)
      return c.json(tea)
    })
}
