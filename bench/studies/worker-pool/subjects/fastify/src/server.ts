import { listen } from '@startgrid/shared/process/listen.ts'
import { startFound } from '@startgrid/shared/process/role.ts'

await startFound<typeof import('./pool.ts')>(
  'fastify',
  import.meta.dirname,
  process.argv[2],
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
