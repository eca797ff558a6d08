import fp from 'fastify-plugin'
import { requestId } from '#shared/http/ids.ts'

/** `request.id` is the inbound x-request-id if that is acceptable, else a new one. Every response and every log line has it. */
export default fp(async (app) => {
  app.setGenReqId((request) => requestId(request.headers['x-request-id']))

  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
})
