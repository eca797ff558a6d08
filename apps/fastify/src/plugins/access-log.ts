import fp from 'fastify-plugin'
import { traceId } from '#shared/request-id.ts'

/**
 * One line per response, also after a client abort: then the hook `onResponse` does not run. Fastify's own two lines have other fields.
 * Routes with `logLevel: 'silent'` have none.
 */
export default fp(
  async (app) => {
    app.addHook('onRequest', (request, reply, done) => {
      const { method, url, routeOptions, headers, ip: client } = request // a closed connection has no address
      const { url: route, logLevel } = routeOptions
      if (logLevel === 'silent') return done()
      reply.raw.once('close', () => {
        const [path] = url.split('?', 1)
        const { statusCode: status } = reply.raw
        const ms = reply.elapsedTime
        const trace_id = traceId(headers.traceparent)
        request.log.info({ method, path, route, status, ms, client, trace_id }, 'request completed')
      })
      done()
    })
  },
  { name: 'access-log' },
)
