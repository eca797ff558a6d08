import { createServer } from 'node:http'
import { protect, SERVER_OPTIONS } from '@startgrid/shared/http/protect.ts'
import { drain } from '@startgrid/shared/process/drain.ts'
import { run } from '@startgrid/shared/process/lifecycle.ts'
import { listen } from '@startgrid/shared/process/listen.ts'
import { beginRole } from '@startgrid/shared/process/role.ts'

const ROLES = { pool: async () => (await import('./pool.ts')).createApp }

const { routes: createApp, ...options } = await beginRole('express', ROLES)
const server = protect(createServer(SERVER_OPTIONS, createApp(options)), options)

await run(options, { listen: () => listen(server, options.config), close: () => drain(server) })
