import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync } from 'fastify'

/** Serves files whose names change with their content, with `.br` and `.gz` siblings made at build time. */
const staticFiles: FastifyPluginAsync<{ root: URL }> = async (app, { root }) => {
  await app.register(fastifyStatic, {
    root,
    prefix: '/assets/',
    index: false,
    preCompressed: true,
    immutable: true,
    maxAge: '1y',
  })

  app.addHook('onSend', (request, reply, _payload, done) => {
    // The plugin still has the obsolete application/javascript (RFC 9239).
    if (reply.statusCode === 200 && request.url.endsWith('.js')) reply.type('text/javascript; charset=utf-8')
    done()
  })
}

export default staticFiles
