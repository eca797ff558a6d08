import { listen } from '@startgrid/shared/process/listen.ts'
import { startRole } from '@startgrid/shared/process/role.ts'

await startRole(
  'fastify',
  process.argv[2],
  { pool: () => import('./pool.ts') },
  async ({ createApp }, options) => {
    const app = createApp(options)
    await app.ready()
    return {
      // Fastify's own listen() logs one line per address of the machine.
      listen: () => listen(app.server, options.config),
      close: () => app.close(),
    }
  },
)
