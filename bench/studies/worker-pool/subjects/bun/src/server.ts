import { createApp } from '@startgrid/bun/app.ts'
import { createService } from '@startgrid/bun/service.ts'
import { run } from '@startgrid/shared/process/lifecycle.ts'
import { beginRole } from '@startgrid/shared/process/role.ts'

const ROLES = { pool: async () => (await import('./pool.ts')).pool }

const { routes: createRoutes, ...options } = await beginRole('bun', ROLES)
await run(options, createService(createApp(options, createRoutes(options)), options.config))
