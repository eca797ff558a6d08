import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { validator } from 'hono/validator'
import { z } from 'zod'
import { parseRequest } from '#shared/problem.ts'

const Form = z.object({ file: z.file() })

// The third argument of `createApp`: it has a limit of its own.
export const upload = new Hono().post(
  '/uploads',
  bodyLimit({ maxSize: 2_000_000 }), // bytes, in memory
  validator('form', (form) => parseRequest(Form, form)),
  (c) => {
    const { name, size } = c.req.valid('form').file
    return c.json({ name, size }, 201)
  },
)
