import fastifyExpress from '@fastify/express'
import { createApp as createFastify } from '@startgrid/fastify/app.ts'
import type { AppOptions } from '@startgrid/shared/app-options.ts'
import type { NextFunction, Request, Response, Router } from 'express'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/** Fastify, as it is in `apps/fastify`, around routes of Express. */
function createApp(options: AppOptions, routes: Router): FastifyInstance {
  const { config, lifecycle, log } = options
  // A plugin of the whole app: for Fastify, each path of an Express route is unknown.
  const mounted = fp(async (app) => {
    app.addHook('onRequest', async ({ raw }) => {
      raw.url = raw.url?.replaceAll('%', '%25') // the plugin decodes it, and Express once more: %2565 would be an e
    })
    await app.register(fastifyExpress)
    app.use((_request: Request, response: Response, next: NextFunction) => {
      Object.assign(response.locals, { config, lifecycle, log })
      next()
    })
    app.use(routes)
  })
  return createFastify(options, mounted)
}

const ROUTES: Readonly<Record<string, () => Promise<Router>>> = {
  partial: async () => (await import('./express.ts')).partial,
  ssr: async () => (await import('@startgrid/express/ssr.ts')).ssr,
  status: async () => (await import('@startgrid/express/status.ts')).status,
}

export async function createServer(options: AppOptions, role: string) {
  const routes = await ROUTES[role]?.()
  if (routes === undefined) throw new Error(`There is no role ${role}.`)
  const app = createApp(options, routes)
  await app.ready()
  return app.server
}
