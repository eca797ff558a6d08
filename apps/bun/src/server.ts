import type { AppOptions } from '#shared/process/lifecycle.ts'
import { startRole } from '#shared/process/role.ts'
import { createApp } from './app.ts'
import { createService } from './service.ts'
import type { Routes } from './wrap-routes.ts'

const ROLES = {
  hello: async () => {
    const { hello } = await import('./hello.ts')
    return () => hello
  },
  ssr: async () => (await import('./ssr.ts')).ssr,
  status: async () => {
    const { status } = await import('./status.ts')
    return () => status
  },
}

await startRole<(options: AppOptions) => Routes>('bun', process.argv[2], ROLES, (createRoutes, options) =>
  createService(createApp(options, createRoutes(options)), options.config),
)
