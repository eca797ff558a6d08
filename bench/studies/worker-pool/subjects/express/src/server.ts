import { createServer } from 'node:http'
import { SERVER_OPTIONS } from '@startgrid/shared/http/protect.ts'
import { rejectAmbiguousHttp } from '@startgrid/shared/http/reject-ambiguous-http.ts'
import { drain } from '@startgrid/shared/process/drain.ts'
import { listen } from '@startgrid/shared/process/listen.ts'
import { startFound } from '@startgrid/shared/process/role.ts'

await startFound<typeof import('./pool.ts')>(
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
