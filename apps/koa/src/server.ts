import { createServer } from 'node:http'
import type Router from '@koa/router'
import { protect, SERVER_OPTIONS } from '#shared/http/protect.ts'
import { SecureResponse } from '#shared/http/secure-response.ts'
import { begin, listen, run } from '#shared/launch/lifecycle.ts'
import { drain } from '#shared/process/drain.ts'
import { createApp } from './app.ts'

const ROLES = {
  hello: async () => (await import('./hello.ts')).hello,
  ssr: async () => (await import('./ssr.ts')).ssr,
  status: async () => (await import('./status.ts')).status,
}

const { routes, ...options } = await begin<Router>('koa', ROLES)
const serverOptions = { ...SERVER_OPTIONS, ServerResponse: SecureResponse }
const server = protect(createServer(serverOptions, createApp(options, routes).callback()), options)

await run(options, { listen: () => listen(server, options.config), close: () => drain(server) })
