import { createServer } from 'node:http'
import { SERVER_OPTIONS } from '#shared/http/protect.ts'
import { rejectAmbiguousHttp } from '#shared/http/reject-ambiguous-http.ts'
import { drain } from '#shared/process/drain.ts'
import { listen } from '#shared/process/listen.ts'
import { startFound } from '#shared/process/role.ts'
import { createListener } from './base.ts'

await startFound<typeof import('./hello.ts')>(
  'hono',
  import.meta.dirname,
  process.argv[2],
  ({ createApp }, options) => {
    const listener = createListener(createApp(options), options.config.host)
    const server = createServer(SERVER_OPTIONS, rejectAmbiguousHttp(listener))
    return {
      listen: () => listen(server, options.config),
      close: () => drain(server),
    }
  },
)
