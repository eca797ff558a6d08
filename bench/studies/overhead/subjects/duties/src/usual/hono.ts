import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { requestId } from 'hono/request-id'
import { secureHeaders } from 'hono/secure-headers'
import { pinoLogger } from 'hono-pino'
import { log } from './log.ts'

const app = new Hono()
app.use(requestId())
app.use(pinoLogger({ pino: log ?? { level: 'info' } }))
app.use(secureHeaders())
app.get('/json', (c) => c.json({ hello: 'world' }))

export const usual = () => createAdaptorServer(app) as Server
