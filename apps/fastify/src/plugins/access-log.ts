import fp from 'fastify-plugin'
import { traceId } from '#shared/request-id.ts'

/**
 * One line per response, also after a client abort: then the hook `onResponse` does not run. Fastify's own two lines have other fields.
 * Routes with `logLevel: 'silent'` have none.
 */
export default fp(async (app) => {
  app.addHook('onRequest', async (request, reply) => {
    const { method, url, routeOptions, headers, ip: client } = request // a closed connection has no address
    if (routeOptions.logLevel === 'silent') return
    reply.raw.once('close', () => {
      const [path] = url.split('?', 1)
      const { statusCode: status } = reply.raw
      const trace_id = traceId(headers.traceparent)
      const fields = {
        method,
        path,
        route: routeOptions.url,
        status,
        ms: reply.elapsedTime,
        client,
        trace_id,
      }
      request.log.info(fields, 'request completed')
    })
  })
})
