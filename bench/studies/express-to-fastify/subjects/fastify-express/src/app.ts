import fastifyExpress from '@fastify/express'
import { createApp as createFastify } from '@startgrid/fastify/app.ts'
import type { ErrorRequestHandler, Router } from 'express'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { AppOptions } from '#shared/app-options.ts'

/** Fastify, as it is in `apps/fastify`, around routes of Express. */
export function createApp(options: AppOptions, routes: Router): FastifyInstance {
  const { config, health } = options
  // A plugin of the whole app: for Fastify, each path of an Express route is unknown.
  const mounted = fp(async (app) => {
    app.addHook('onRequest', async ({ raw }, reply) => {
      raw.url = raw.url?.replaceAll('%', '%25') // the plugin decodes it, and Express once more: %2565 would be an e
      // Express writes on Node's response, and `reply.send` would replace its headers: a page would get the policy of a text.
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        reply.removeHeader(name)
        reply.raw.setHeader(name, value ?? '')
      }
    })
    await app.register(fastifyExpress)
    Object.assign(app.express.locals, { config, health })
    app.use(routes)
    app.use(ignoreAbort)
  })
  return createFastify(options, mounted)
}

/** A client that leaves a stream is no failure. Fastify would log one, and that its reply was already sent. */
const ignoreAbort: ErrorRequestHandler = (error, _request, _response, next) => {
  if (error?.code !== 'ERR_STREAM_PREMATURE_CLOSE') next(error)
}
