import { createApp } from '@startgrid/bun/app.ts'
import { createService } from '@startgrid/bun/service.ts'
import { begin, run } from '@startgrid/shared/launch/lifecycle.ts'

const ROLES = { pool: async () => (await import('./pool.ts')).pool }

const { routes: createRoutes, ...options } = await begin('bun', ROLES)
const create = () => createApp(options, createRoutes(options))
await run(options, createService(create, options.config))
