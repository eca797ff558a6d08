import { Hono } from 'hono'
import { validator } from 'hono/validator'
import { z } from 'zod'

const Person = z.object({ name: z.string().min(1).max(100) })

// A `ZodError` becomes a 400 that names the fields. `zValidator` of @hono/zod-validator would respond by itself.
export const body = new Hono().post(
  '/greetings',
  validator('json', (value) => Person.parse(value)),
  (c) => c.json({ hello: c.req.valid('json').name }, 201),
)
