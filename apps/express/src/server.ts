import { createServer } from 'node:http'
import { SERVER_OPTIONS } from '#shared/http/protect.ts'
import { rejectAmbiguousHttp } from '#shared/http/reject-ambiguous-http.ts'
import { drain } from '#shared/process/drain.ts'
import { listen } from '#shared/process/listen.ts'
import { startFound } from '#shared/process/role.ts'

await startFound<typeof import('./hello.ts')>(
  'express',
  import.meta.dirname,
  process.argv[2],
  ({ createApp }, options) => {
    const server = createServer(SERVER_OPTIONS, rejectAmbiguousHttp(createApp(options)))
    return {
      listen: () => listen(server, options.config),
      close: () => drain(server),
    }
  },
)
