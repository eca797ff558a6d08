import { randomUUID } from 'node:crypto'
import helmet from '@fastify/helmet'
import Fastify, { type FastifyBaseLogger } from 'fastify'
import { log } from './log.ts'

const app = Fastify({
  ...(log ? { loggerInstance: log as FastifyBaseLogger } : { logger: true }),
  requestIdHeader: 'x-request-id',
  genReqId: () => randomUUID(),
})
app.register(helmet)
app.addHook('onSend', async (request, reply) => {
  reply.header('x-request-id', request.id)
})
app.get('/json', async () => ({ hello: 'world' }))

export async function usual() {
  await app.ready()
  return app.server
}
