import { Hono } from 'hono'
import { validator } from 'hono/validator'
import { z } from 'zod'
import { requireJson } from '#shared/media-type.ts'
import { parseRequest } from '#shared/problem.ts'

const Person = z.object({ name: z.string().min(1).max(100) })

// What does not fit is a 400 that names the fields. `zValidator` of @hono/zod-validator would respond by itself.
export const body = new Hono().post(
  '/greetings',
  validator('header', requireJson),
  validator('json', (value) => parseRequest(Person, value)),
  (c) => c.json({ hello: c.req.valid('json').name }, 201),
)
