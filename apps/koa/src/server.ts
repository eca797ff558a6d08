import { createServer } from 'node:http'
import type Router from '@koa/router'
import { protect, SERVER_OPTIONS } from '#shared/http/protect.ts'
import { drain } from '#shared/process/drain.ts'
import { listen } from '#shared/process/listen.ts'
import { startRole } from '#shared/process/role.ts'
import { createApp } from './app.ts'

const ROLES = {
  hello: async () => (await import('./hello.ts')).hello,
  ssr: async () => (await import('./ssr.ts')).ssr,
  status: async () => (await import('./status.ts')).status,
}

await startRole<Router>('koa', process.argv[2], ROLES, (routes, options) => {
  const server = protect(createServer(SERVER_OPTIONS, createApp(options, routes).callback()), options)
  return { listen: () => listen(server, options.config), close: () => drain(server) }
})
