import { begin, listen, run } from '#shared/launch/lifecycle.ts'
import { drain } from '#shared/process/drain.ts'
import { createApp } from './app.ts'
import type { Route } from './router.ts'

const ROLES = {
  hello: async () => (await import('./hello.ts')).hello,
  ssr: async () => (await import('./ssr.ts')).ssr,
  status: async () => (await import('./status.ts')).status,
}

const { routes, ...options } = await begin<readonly Route[]>('node', ROLES)
const server = createApp(options, routes)

await run(options, { listen: () => listen(server, options.config), close: () => drain(server) })
