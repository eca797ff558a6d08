import type { H3 } from 'h3'
import { begin, listen, run } from '#shared/launch/lifecycle.ts'
import { drain } from '#shared/process/drain.ts'
import { createApp } from './app.ts'
import { createNodeServer } from './node-server.ts'

const ROLES = {
  hello: async () => (await import('./hello.ts')).hello,
  ssr: async () => (await import('./ssr.ts')).ssr,
  status: async () => (await import('./status.ts')).status,
}

const { routes, ...options } = await begin<H3>('h3', ROLES)
const app = createApp(options, routes)
const server = createNodeServer(options, app)

await run(options, { listen: () => listen(server, options.config), close: () => drain(server) })
