import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { validator } from 'hono/validator'
import { z } from 'zod'
import { fileName } from '#shared/files.ts'
import { limitConcurrency } from '#shared/load-shedding.ts'
import { parseRequest } from '#shared/problem.ts'

const Form = z.object({ file: z.file() })
const limit = limitConcurrency(16) // files in memory: 32 MB

// The third argument of `createApp`: it has a limit of its own.
export const upload = new Hono().post(
  '/uploads',
  (c, next) => {
    limit((c.env as HttpBindings).outgoing)
    return next()
  },
  bodyLimit({ maxSize: 2_000_000 }), // bytes, in memory
  validator('form', (form) => parseRequest(Form, form)),
  (c) => {
    const { name, size } = c.req.valid('form').file
    return c.json({ name: fileName(name), size }, 201)
  },
)
