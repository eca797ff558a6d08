import { listen } from '#shared/process/listen.ts'
import { startRole } from '#shared/process/role.ts'

await startRole<typeof import('./status.ts')>(
  'fastify-express',
  process.argv[2],
  { ssr: () => import('./ssr.ts'), status: () => import('./status.ts') },
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
