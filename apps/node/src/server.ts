import { createServer } from 'node:http'
import { protect, SERVER_OPTIONS } from '#shared/http/protect.ts'
import { drain } from '#shared/process/drain.ts'
import { listen } from '#shared/process/listen.ts'
import { startRole } from '#shared/process/role.ts'
import { createApp } from './app.ts'
import type { Route } from './router.ts'

const ROLES = {
  hello: async () => (await import('./hello.ts')).hello,
  ssr: async () => (await import('./ssr.ts')).ssr,
  status: async () => (await import('./status.ts')).status,
}

await startRole<readonly Route[]>('node', process.argv[2], ROLES, (routes, options) => {
  const server = protect(createServer(SERVER_OPTIONS, createApp(options, routes)), options)
  return { listen: () => listen(server, options.config), close: () => drain(server) }
})
