import { status } from '@startgrid/express/status.ts'
import { Router } from 'express'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { serve } from '#shared/testing-before/serve.ts'
import { createApp } from '../src/app.ts'

/** The app with some routes, or with those of the status app, on a free port until the end of the block. */
export async function start(options: AppOptions, ...routes: Router[]) {
  const router = Router({ caseSensitive: true, strict: true })
  for (const own of routes.length === 0 ? [status] : routes) router.use(own)
  const app = await createApp(options, router)
  await app.ready()
  return serve(app.server, options)
}
