import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { renderFragment } from '@startgrid/express-to-fastify-express/fragment.ts'
import { createNonce, pageHeaders } from '@startgrid/shared/security.ts'

const Product = Type.Object({ slug: Type.String() })
const schema = { params: Product, response: { 200: Type.String() } }

export const partial: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/partial/en-US/:slug', { schema }, async (request, reply) => {
    const fragment = renderFragment(request.params.slug)
    if (fragment === undefined) return reply.callNotFound()
    return reply.headers(pageHeaders(createNonce())).type('text/html; charset=utf-8').send(fragment)
  })
}
