import fastifyStatic from '@fastify/static'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { streamPage } from '#shared/page/stream-node.ts'
import { ASSETS_DIR, renderPage } from '#shared/page/server.js'
import { recommendSlowly } from '#shared/page/shop/back-end.ts'

const Items = Type.Integer({ minimum: 0, maximum: 1000, default: 50 })
const Delay = Type.Integer({ minimum: 0, maximum: 5000, default: 50, description: 'milliseconds' })

export const ssr: FastifyPluginAsyncTypebox = async (app) => {
  await app.register(fastifyStatic, {
    root: ASSETS_DIR,
    prefix: '/assets/',
    preCompressed: true,
    immutable: true,
    maxAge: '1y',
  })

  app.get(
    '/',
    { onRequest: app.shedLoad, schema: { querystring: Type.Object({ items: Items }) } },
    async (request, reply) => {
      const props = { items: request.query.items, requestId: request.id, nonce: reply.allowScripts() }
      return reply.type('text/html; charset=utf-8').send(renderPage('shop', props))
    },
  )

  app.get(
    '/stream',
    { onRequest: app.shedLoad, schema: { querystring: Type.Object({ items: Items, delay: Delay }) } },
    async (request, reply) => {
      const { items, delay } = request.query
      const pending = recommendSlowly(items, delay, request.signal)
      const props = { items, requestId: request.id, pending, nonce: reply.allowScripts() }
      const stream = await streamPage('shop', props, request.signal, (err) =>
        request.log.error({ err }, 'failed'),
      )
      return reply.type('text/html; charset=utf-8').send(stream)
    },
  )
}
