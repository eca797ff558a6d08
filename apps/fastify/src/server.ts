import type { FastifyPluginAsync } from 'fastify'
import { listen } from '#shared/process/listen.ts'
import { startRole } from '#shared/process/role.ts'
import { createApp } from './app.ts'

const ROLES = {
  hello: async () => (await import('./hello.ts')).hello,
  ssr: async () => (await import('./ssr.ts')).ssr,
  status: async () => (await import('./status.ts')).status,
}

await startRole<FastifyPluginAsync>('fastify', process.argv[2], ROLES, (routes, options) => {
  const app = createApp(options, routes)
  return {
    listen: () => listen(app.server, options.config, (place) => app.listen(place)),
    close: () => app.close(),
  }
})
