import type { Router } from 'express'
import { listen } from '#shared/process/listen.ts'
import { startRole } from '#shared/process/role.ts'
import { createApp } from './app.ts'

const ROLES = {
  partial: async () => (await import('@startgrid/express-to-fastify-express/partial.ts')).partial,
  ssr: async () => (await import('@startgrid/express/ssr.ts')).ssr,
  status: async () => (await import('@startgrid/express/status.ts')).status,
}

await startRole<Router>('fastify-express', process.argv[2], ROLES, async (routes, options) => {
  const app = await createApp(options, routes)
  await app.ready()
  return {
    // Fastify's own listen() logs one line per address of the machine.
    listen: () => listen(app.server, options.config),
    close: () => app.close(),
  }
})
