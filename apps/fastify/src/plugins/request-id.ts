import fp from 'fastify-plugin'

/** `request.id` is the x-request-id that `protect` accepted or chose. Every response and every log line contains it. */
export default fp(async (app) => {
  app.addHook('onSend', (request, reply, payload, done) => {
    reply.header('x-request-id', request.id)
    done(null, payload)
  })
})
