import { Type } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import type { Health } from '#shared/http/health.ts'

const Status = Type.Object({ status: Type.Enum(['pass', 'fail']) })

declare module 'fastify' {
  interface FastifyInstance {
    /** `addCheck` adds a condition of readiness. To close something, add the hook `onClose`. */
    health: Health
  }
}

/** Alive until the process ends, ready until a stop signal. Not logged, because orchestrators ask every few seconds. */
export default fp<{ health: Health }>(async (app, { health }) => {
  app.decorate('health', health)
  const route = { logLevel: 'silent', schema: { response: { 200: Status, 503: Status } } } as const

  app.get('/livez', route, (_request, reply) => send(reply, true))
  app.get('/readyz', route, async (_request, reply) => send(reply, await health.isReady()))
})

function send(reply: FastifyReply, passes: boolean): FastifyReply {
  return reply
    .code(passes ? 200 : 503)
    .header('cache-control', 'no-store')
    .type('application/health+json')
    .send({ status: passes ? 'pass' : 'fail' })
}
