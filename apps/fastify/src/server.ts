import { start } from '#shared/lifecycle.ts'
import { listen } from '#shared/listen.ts'

await start<typeof import('./hello.ts')>(
  'fastify',
  import.meta.dirname,
  process.argv[2],
  async (role, options) => {
    const app = role.createApp(options)
    await app.ready()
    return {
      // Fastify's own listen() logs one line per address of the machine.
      listen: () => listen(app.server, options.config),
      close: () => app.close(),
    }
  },
)
