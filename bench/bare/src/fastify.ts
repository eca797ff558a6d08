import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { SECURITY_HEADERS } from '@startgrid/shared/http/security-headers.ts'
import Fastify, { type FastifyInstance } from 'fastify'

export function bare(): Promise<Server> {
  const app = Fastify()
  app.get('/json', () => ({ hello: 'world' }))
  return serverOf(app)
}

export function withHeaders(): Promise<Server> {
  const app = Fastify()
  app.get('/json', (_request, reply) => {
    reply.headers(SECURITY_HEADERS).header('x-request-id', randomUUID())
    return { hello: 'world' }
  })
  return serverOf(app)
}

async function serverOf(app: FastifyInstance): Promise<Server> {
  await app.ready()
  return app.server
}
