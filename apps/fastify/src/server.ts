import type { FastifyPluginAsync } from 'fastify'
import { begin, listen, run } from '#shared/launch/lifecycle.ts'
import { createApp } from './app.ts'

const ROLES = {
  hello: async () => (await import('./hello.ts')).hello,
  ssr: async () => (await import('./ssr.ts')).ssr,
  status: async () => (await import('./status.ts')).status,
}

const { routes, ...options } = await begin<FastifyPluginAsync>('fastify', ROLES)
const app = createApp(options, routes)

await run(options, {
  listen: () => listen(app.server, options.config, (place) => app.listen(place)),
  close: () => app.close(),
})
