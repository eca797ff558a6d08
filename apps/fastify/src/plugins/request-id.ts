import fp from 'fastify-plugin'
import { requestId } from '#shared/http/ids.ts'

/** `request.id` is the inbound x-request-id if it is valid, otherwise a new id. Every response and every log line contains it. */
export default fp(async (app) => {
  app.setGenReqId((request) => requestId(request.headers['x-request-id']))

  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
})
