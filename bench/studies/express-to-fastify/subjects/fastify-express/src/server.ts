import type { Router } from 'express'
import { begin, listen, run } from '#shared/launch/lifecycle.ts'
import { createApp } from './app.ts'

const ROLES = {
  partial: async () => (await import('@startgrid/express-to-fastify-express/partial.ts')).partial,
  ssr: async () => (await import('@startgrid/express/ssr.ts')).ssr,
  status: async () => (await import('@startgrid/express/status.ts')).status,
}

const { routes, ...options } = await begin<Router>('fastify-express', ROLES)
const app = await createApp(options, routes)
await app.ready()

await run(options, {
  // Fastify's own listen() logs one line per address of the machine.
  listen: () => listen(app.server, options.config),
  close: () => app.close(),
})
