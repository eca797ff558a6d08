import { serve } from '@hono/node-server'

const { Hono } = await import(process.argv[2])

const app = new Hono()
app.get('/', (c) => c.text('Hello World!'))
serve({ fetch: app.fetch, port: process.env.PORT, hostname: process.env.HOST })
