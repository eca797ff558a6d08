import type { Hono } from 'hono'
import { drain } from '#shared/process/drain.ts'
import { listen } from '#shared/process/listen.ts'
import { startRole } from '#shared/process/role.ts'
import { createNodeServer } from './node-server.ts'

const ROLES = {
  hello: async () => (await import('./hello.ts')).hello,
  ssr: async () => (await import('./ssr.ts')).ssr,
  status: async () => (await import('./status.ts')).status,
}

await startRole<Hono>('hono', process.argv[2], ROLES, (routes, options) => {
  const server = createNodeServer(options, routes)
  return { listen: () => listen(server, options.config), close: () => drain(server) }
})
