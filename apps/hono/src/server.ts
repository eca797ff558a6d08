import type { Hono } from 'hono'
import { begin, listen, run } from '#shared/launch/lifecycle.ts'
import { drain } from '#shared/process/drain.ts'
import { createNodeServer } from './node-server.ts'

const ROLES = {
  hello: async () => (await import('./hello.ts')).hello,
  ssr: async () => (await import('./ssr.ts')).ssr,
  status: async () => (await import('./status.ts')).status,
}

const { routes, ...options } = await begin<Hono>('hono', ROLES)
const server = createNodeServer(options, routes)

await run(options, { listen: () => listen(server, options.config), close: () => drain(server) })
