import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { renderFragment } from '@startgrid/express-to-fastify-express/fragment.ts'

const Product = Type.Object({ locale: Type.String(), slug: Type.String() })
const schema = { params: Product, response: { 200: Type.String() } }

export const partial: FastifyPluginAsyncTypebox = async (app) => {
  app.addHook('onRequest', app.shedLoad)
  app.get('/partial/:locale/:slug', { schema }, async (request, reply) => {
    const fragment = renderFragment(request.params.locale, request.params.slug)
    if (fragment === undefined) return reply.callNotFound()
    reply.allowScripts()
    return reply.type('text/html; charset=utf-8').send(fragment)
  })
}
