import fastifyAccepts from '@fastify/accepts'
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync } from 'fastify'
import { prepareAssetRequest } from '#shared/http/assets.ts'

/** Serves files with a hash in their names, and their `.br` and `.gz` siblings from the build. */
const staticFiles: FastifyPluginAsync<{ root: URL }> = async (app, { root }) => {
  await app.register(fastifyAccepts)

  app.addHook('onRequest', async (request, reply) => {
    // @fastify/static gives `*` precedence over `br;q=0`, and serves the siblings as files.
    if (!prepareAssetRequest(request.raw, (coding) => request.encoding(coding))) return reply.callNotFound()
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
    // The plugin sends application/javascript, which is obsolete (RFC 9239).
    else if (String(reply.getHeader('content-type')).startsWith('application/javascript'))
      reply.type('text/javascript; charset=utf-8')
  })
}

export default staticFiles
