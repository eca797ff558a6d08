import type { onRequestHookHandler } from 'fastify'
import fp from 'fastify-plugin'

const setId: onRequestHookHandler = (request, reply, done) => {
  reply.header('x-request-id', request.id)
  done()
}

/** `request.id` is the x-request-id that `protect` accepted or chose. Every response and every log line contains it. */
export default fp(async (app) => {
  app.addHook('onRequest', setId) // for responses that skip `onSend`, such as those of @fastify/sse
  app.addHook('onSend', (request, reply, _payload, done) => setId.call(app, request, reply, done))
})
