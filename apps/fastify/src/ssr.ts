import fastifyStatic from '@fastify/static'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { onRequestAsyncHookHandler } from 'fastify'
import { waitsTooLong } from '#shared/load-shedding.ts'
import { ASSETS_DIR, renderPage, vite } from '#shared/page/server.js'
import { recommendSlowly } from '#shared/page/shop/back-end.ts'
import { streamPage } from '#shared/page/stream-node.ts'
import { Busy } from '#shared/problem.ts'
import { createNonce, pageHeaders } from '#shared/security.ts'

const Items = Type.Integer({ minimum: 0, maximum: 1000, default: 50 })
const Delay = Type.Integer({ minimum: 0, maximum: 5000, default: 50, description: 'milliseconds' })
const Page = Type.Object({ items: Items })
const SlowPage = Type.Object({ items: Items, delay: Delay })

export const ssr: FastifyPluginAsyncTypebox = async (app) => {
  await app.register(fastifyStatic, {
    root: ASSETS_DIR,
    serve: false, // its own route says 403 if a file cannot be opened
    preCompressed: true,
    immutable: true,
    maxAge: '1y',
  })
  app.get<{ Params: { '*': string } }>('/assets/*', (request, reply) => {
    if (vite) return vite.middlewares(request.raw, reply.hijack().raw)
    return reply.sendFile(request.params['*'])
  })

  /** For expensive routes: 503 after too long a wait. */
  const onRequest: onRequestAsyncHookHandler = async (_request, reply) => {
    const isTooLate = await waitsTooLong(app.config.MAX_QUEUE_WAIT_MS)
    if (reply.raw.closed) return reply.hijack() // the client has left
    if (isTooLate) throw new Busy()
  }

  app.get('/', { onRequest, schema: { querystring: Page } }, async (request, reply) => {
    const { items } = request.query
    const nonce = createNonce()
    return reply
      .headers(pageHeaders(nonce))
      .type('text/html; charset=utf-8')
      .send(await renderPage('shop', { items, requestId: request.id, nonce }))
  })

  app.get('/stream', { onRequest, schema: { querystring: SlowPage } }, async (request, reply) => {
    const { items, delay } = request.query
    const nonce = createNonce()
    const pending = recommendSlowly(items, delay, request.signal)
    const props = { items, requestId: request.id, pending, nonce }
    const stream = await streamPage('shop', props, request.signal, (err) =>
      request.log.error({ err }, 'failed'),
    )
    return reply.headers(pageHeaders(nonce)).type('text/html; charset=utf-8').send(stream)
  })
}
