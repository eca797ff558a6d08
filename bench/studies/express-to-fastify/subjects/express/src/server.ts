import { createServer } from 'node:http'
import { createApp } from '@startgrid/express/app.ts'
import { protect, SERVER_OPTIONS } from '@startgrid/shared/http/protect.ts'
import { begin, listen, run } from '@startgrid/shared/launch/lifecycle.ts'
import { drain } from '@startgrid/shared/process/drain.ts'

const ROLES = { partial: async () => (await import('./partial.ts')).partial }

const { routes, ...options } = await begin('express', ROLES)
const server = protect(createServer(SERVER_OPTIONS, createApp(options, routes)), options)

await run(options, { listen: () => listen(server, options.config), close: () => drain(server) })
