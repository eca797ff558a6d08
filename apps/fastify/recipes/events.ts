// npm install @fastify/sse
import { setTimeout as sleep } from 'node:timers/promises'
import { fastifySSE } from '@fastify/sse'
import type { FastifyPluginAsync } from 'fastify'

export const events: FastifyPluginAsync = async (app) => {
  await app.register(fastifySSE, { heartbeatInterval: 15_000 }) // proxies close a connection that is silent for longer

  app.get('/events', { sse: 'only' }, async (request, reply) => {
    reply.header('cache-control', 'no-store, no-transform') // nothing compresses events, and so holds them back
    if (request.method === 'HEAD') return reply.sse.sendHeaders()

    const signal = AbortSignal.any([request.signal, app.lifecycle.signal])
    const last = Number(reply.sse.lastEventId) || 0 // what a browser has seen before its connection broke
    for (let id = last + 1; !signal.aborted; id++) {
      await reply.sse.send({ id: String(id), data: { cups: id } })
      await sleep(60_000, undefined, { signal }).catch(() => {})
    }
  })
}
