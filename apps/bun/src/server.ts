import type { AppOptions } from '#shared/process/lifecycle.ts'
import { startRole } from '#shared/process/role.ts'
import { createApp } from './app.ts'
import { createService } from './service.ts'
import type { Routes } from './wrap-routes.ts'

const ROLES = {
  hello: async () => (await import('./hello.ts')).hello,
  ssr: async () => (await import('./ssr.ts')).ssr,
  status: async () => (await import('./status.ts')).status,
}

await startRole<(options: AppOptions) => Routes>('bun', process.argv[2], ROLES, (createRoutes, options) =>
  createService(createApp(options, createRoutes(options)), options.config),
)
