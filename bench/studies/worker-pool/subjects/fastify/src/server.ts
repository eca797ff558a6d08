import { run } from '@startgrid/shared/process/lifecycle.ts'
import { listen } from '@startgrid/shared/process/listen.ts'
import { beginRole } from '@startgrid/shared/process/role.ts'

const {
  routes: { createApp },
  ...options
} = await beginRole('fastify', { pool: () => import('./pool.ts') })
const app = createApp(options)
await app.ready()

await run(options, {
  // Fastify's own listen() logs one line per address of the machine.
  listen: () => listen(app.server, options.config),
  close: () => app.close(),
})
