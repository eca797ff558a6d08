import { createServer } from 'node:http'
import { drain } from '#shared/drain.ts'
import { listen, SERVER_OPTIONS } from '#shared/listen.ts'
import { startRole } from '#shared/role.ts'
import { strict } from '#shared/strict.ts'
import { createListener } from './base.ts'

await startRole<typeof import('./hello.ts')>(
  'hono',
  import.meta.dirname,
  process.argv[2],
  ({ createApp }, options) => {
    const listener = createListener(createApp(options), options.config.host)
    const server = createServer(SERVER_OPTIONS, strict(listener))
    return {
      listen: () => listen(server, options.config),
      close: () => drain(server),
    }
  },
)
