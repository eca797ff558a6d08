import { createServer } from 'node:http'
import { createApp } from '@startgrid/express/app.ts'
import { protect, SERVER_OPTIONS } from '@startgrid/shared/http/protect.ts'
import { drain } from '@startgrid/shared/process/drain.ts'
import { listen } from '@startgrid/shared/process/listen.ts'
import { startRole } from '@startgrid/shared/process/role.ts'

const ROLES = { partial: async () => (await import('./partial.ts')).partial }

await startRole('express', process.argv[2], ROLES, (routes, options) => {
  const server = protect(createServer(SERVER_OPTIONS, createApp(options, routes)), options)
  return { listen: () => listen(server, options.config), close: () => drain(server) }
})
