import { createApp } from '@startgrid/fastify/app.ts'
import { begin, listen, run } from '@startgrid/shared/launch/lifecycle.ts'

const ROLES = { partial: async () => (await import('./partial.ts')).partial }

const { routes, ...options } = await begin('fastify', ROLES)
const app = createApp(options, routes)

await run(options, {
  listen: () => listen(app.server, options.config, (place) => app.listen(place)),
  close: () => app.close(),
})
