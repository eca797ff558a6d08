import { createApp } from '@startgrid/fastify/app.ts'
import { run } from '@startgrid/shared/process/lifecycle.ts'
import { listen } from '@startgrid/shared/process/listen.ts'
import { beginRole } from '@startgrid/shared/process/role.ts'

const ROLES = { partial: async () => (await import('./partial.ts')).partial }

const { routes, ...options } = await beginRole('fastify', ROLES)
const app = createApp(options, routes)

await run(options, {
  listen: () => listen(app.server, options.config, (place) => app.listen(place)),
  close: () => app.close(),
})
