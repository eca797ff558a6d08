import { createServer } from 'node:http'
import { drain } from '#shared/drain.ts'
import { listen, SERVER_OPTIONS } from '#shared/listen.ts'
import { startRole } from '#shared/role.ts'
import { strict } from '#shared/strict.ts'

await startRole<typeof import('./hello.ts')>(
  'koa',
  import.meta.dirname,
  process.argv[2],
  ({ createApp }, options) => {
    const server = createServer(SERVER_OPTIONS, strict(createApp(options).callback()))
    return {
      listen: () => listen(server, options.config),
      close: () => drain(server),
    }
  },
)
