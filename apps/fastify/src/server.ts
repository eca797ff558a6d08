import { listen } from '#shared/process/listen.ts'
import { startRole } from '#shared/process/role.ts'

await startRole<typeof import('./hello.ts')>(
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
