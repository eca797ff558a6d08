import { begin, listen, run } from '@startgrid/shared/launch/lifecycle.ts'

const {
  routes: { createApp },
  ...options
} = await begin('fastify', { pool: () => import('./pool.ts') })
const app = createApp(options)
await app.ready()

await run(options, {
  // Fastify's own listen() logs one line per address of the machine.
  listen: () => listen(app.server, options.config),
  close: () => app.close(),
})
