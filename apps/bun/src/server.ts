import { begin, run } from '#shared/launch/lifecycle.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { createApp } from './app.ts'
import { createService } from './service.ts'
import type { Routes } from './wrap-routes.ts'

const ROLES = {
  hello: async () => (await import('./hello.ts')).hello,
  ssr: async () => (await import('./ssr.ts')).ssr,
  status: async () => (await import('./status.ts')).status,
}

const { routes: createRoutes, ...options } = await begin<(options: AppOptions) => Routes>('bun', ROLES)
const create = () => createApp(options, createRoutes(options))
await run(options, createService(create, options.config))
