import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'

/** Alive until the process ends, ready until it is told to stop. Not logged, because orchestrators ask every few seconds. */
export default fp(
  async (app) => {
    app.get('/livez', { logLevel: 'silent' }, (_request, reply) => send(reply, true))
    app.get('/readyz', { logLevel: 'silent' }, async (_request, reply) =>
      send(reply, await app.lifecycle.isReady()),
    )
  },
  { name: 'health', decorators: { fastify: ['lifecycle'] } },
)

function send(reply: FastifyReply, passes: boolean): FastifyReply {
  return reply
    .code(passes ? 200 : 503)
    .header('cache-control', 'no-store')
    .send({ status: passes ? 'pass' : 'fail' })
}
