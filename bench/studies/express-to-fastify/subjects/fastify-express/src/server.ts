import type { Router } from 'express'
import { run } from '#shared/process/lifecycle.ts'
import { listen } from '#shared/process/listen.ts'
import { beginRole } from '#shared/process/role.ts'
import { createApp } from './app.ts'

const ROLES = {
  partial: async () => (await import('@startgrid/express-to-fastify-express/partial.ts')).partial,
  ssr: async () => (await import('@startgrid/express/ssr.ts')).ssr,
  status: async () => (await import('@startgrid/express/status.ts')).status,
}

const { routes, ...options } = await beginRole<Router>('fastify-express', ROLES)
const app = await createApp(options, routes)
await app.ready()

await run(options, {
  // Fastify's own listen() logs one line per address of the machine.
  listen: () => listen(app.server, options.config),
  close: () => app.close(),
})
