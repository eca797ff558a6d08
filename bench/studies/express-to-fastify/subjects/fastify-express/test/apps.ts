import { ssr } from '@startgrid/express/ssr.ts'
import { status } from '@startgrid/express/status.ts'
import { partial } from '@startgrid/express-to-fastify-express/partial.ts'
import { Router } from 'express'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { createApp } from '../src/app.ts'

/** With routes that the role does not have. */
type Options = AppOptions & { routes?: (router: Router) => void }

export const createStatus = ({ routes, ...options }: Options) => createApp(options, add(status, routes))

export const createPages = ({ routes, ...options }: Options) => createApp(options, add(ssr, routes))

export const createFragments = ({ routes, ...options }: Options) => createApp(options, add(partial, routes))

function add(own: Router, routes: Options['routes']): Router {
  const router = Router({ caseSensitive: true, strict: true })
  router.use(own)
  routes?.(router)
  return router
}
