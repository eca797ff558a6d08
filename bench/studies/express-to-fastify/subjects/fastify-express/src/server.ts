import { listen } from '#shared/process/listen.ts'
import { startFound } from '#shared/process/role.ts'

await startFound<typeof import('./status.ts')>(
  'fastify-express',
  import.meta.dirname,
  process.argv[2],
  async ({ createApp }, options) => {
    const app = await createApp(options)
    await app.ready()
    return {
      // Fastify's own listen() logs one line per address of the machine.
      listen: () => listen(app.server, options.config),
      close: () => app.close(),
    }
  },
)
