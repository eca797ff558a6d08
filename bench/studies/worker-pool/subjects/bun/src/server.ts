import { createApp } from '@startgrid/bun/app.ts'
import { createService } from '@startgrid/bun/service.ts'
import { startRole } from '@startgrid/shared/process/role.ts'

const ROLES = { pool: async () => (await import('./pool.ts')).pool }

await startRole('bun', process.argv[2], ROLES, (createRoutes, options) =>
  createService(createApp(options, createRoutes(options)), options.config),
)
