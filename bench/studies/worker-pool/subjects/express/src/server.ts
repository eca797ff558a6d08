import { createServer } from 'node:http'
import { protect, SERVER_OPTIONS } from '@startgrid/shared/http/protect.ts'
import { begin, listen, run } from '@startgrid/shared/launch/lifecycle.ts'
import { drain } from '@startgrid/shared/process/drain.ts'

const ROLES = { pool: async () => (await import('./pool.ts')).createApp }

const { routes: createApp, ...options } = await begin('express', ROLES)
const server = protect(createServer(SERVER_OPTIONS, createApp(options)), options)

await run(options, { listen: () => listen(server, options.config), close: () => drain(server) })
