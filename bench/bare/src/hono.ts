import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { SECURITY_HEADERS } from '@startgrid/shared/http/security-headers.ts'
import { Hono } from 'hono'

export function bare(): Server {
  const app = new Hono()
  app.get('/json', (c) => c.json({ hello: 'world' }))
  return createAdaptorServer(app) as Server
}

export function withHeaders(): Server {
  const app = new Hono()
  app.get('/json', (c) => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) c.header(name, value)
    c.header('x-request-id', randomUUID())
    return c.json({ hello: 'world' })
  })
  return createAdaptorServer(app) as Server
}
