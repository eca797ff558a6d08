import { createServer } from 'node:http'
import { strict } from '@startgrid/shared/http/strict.ts'
import { drain } from '@startgrid/shared/process/drain.ts'
import { listen, SERVER_OPTIONS } from '@startgrid/shared/process/listen.ts'
import { startRole } from '@startgrid/shared/process/role.ts'

await startRole<typeof import('./pool.ts')>(
  'express',
  import.meta.dirname,
  process.argv[2],
  ({ createApp }, options) => {
    const server = createServer(SERVER_OPTIONS, strict(createApp(options)))
    return {
      listen: () => listen(server, options.config),
      close: () => drain(server),
    }
  },
)
