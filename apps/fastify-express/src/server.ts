import { start } from '#shared/lifecycle.ts'
import { listen } from '#shared/listen.ts'

await start<typeof import('./status.ts')>(
  'fastify-express',
  import.meta.dirname,
  process.argv[2],
  async (role, options) => {
    const app = await role.createApp(options)
    await app.ready()
    return {
      // Fastify's own listen() logs one line per address of the machine.
      listen: () => listen(app.server, options.config),
      close: () => app.close(),
    }
  },
)
