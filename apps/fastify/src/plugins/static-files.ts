import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync } from 'fastify'
import { prepareAssetRequest } from '#shared/http/assets.ts'

/** Serves files whose names change with their content, with `.br` and `.gz` siblings made at build time. */
const staticFiles: FastifyPluginAsync<{ root: URL }> = async (app, { root }) => {
  app.addHook('onRequest', async (request, reply) => {
    // @fastify/static gives `*` precedence over `br;q=0`, and serves the siblings as files.
    if (!prepareAssetRequest(request.raw)) return reply.callNotFound()
  })

  await app.register(fastifyStatic, {
    root,
    prefix: '/assets/',
    index: false,
    preCompressed: true,
    immutable: true,
    maxAge: '1y',
  })

  app.addHook('onSend', async (_request, reply) => {
    if (reply.statusCode === 304) reply.removeHeader('content-type').removeHeader('content-encoding')
    // The plugin still has the obsolete application/javascript (RFC 9239).
    else if (String(reply.getHeader('content-type')).startsWith('application/javascript'))
      reply.type('text/javascript; charset=utf-8')
  })
}

export default staticFiles
