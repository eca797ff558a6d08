import { createApp } from '@startgrid/fastify/app.ts'
import { listen } from '@startgrid/shared/process/listen.ts'
import { startRole } from '@startgrid/shared/process/role.ts'

const ROLES = { partial: async () => (await import('./partial.ts')).partial }

await startRole('fastify', process.argv[2], ROLES, (routes, options) => {
  const app = createApp(options, routes)
  return {
    listen: () => listen(app.server, options.config, (place) => app.listen(place)),
    close: () => app.close(),
  }
})
