import { createServer } from 'node:http'
import { strict } from '#shared/http/strict.ts'
import { drain } from '#shared/process/drain.ts'
import { listen, SERVER_OPTIONS } from '#shared/process/listen.ts'
import { startRole } from '#shared/process/role.ts'
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
