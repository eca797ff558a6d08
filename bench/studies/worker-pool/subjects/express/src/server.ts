import { createServer } from 'node:http'
import { protect, SERVER_OPTIONS } from '@startgrid/shared/http/protect.ts'
import { drain } from '@startgrid/shared/process/drain.ts'
import { listen } from '@startgrid/shared/process/listen.ts'
import { startRole } from '@startgrid/shared/process/role.ts'

const ROLES = { pool: async () => (await import('./pool.ts')).createApp }

await startRole('express', process.argv[2], ROLES, (createApp, options) => {
  const server = protect(createServer(SERVER_OPTIONS, createApp(options)), options)
  return { listen: () => listen(server, options.config), close: () => drain(server) }
})
