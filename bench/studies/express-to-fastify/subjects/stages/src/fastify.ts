import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { createApp } from '@startgrid/fastify/app.ts'
import type { AppOptions } from '@startgrid/shared/app-options.ts'
import { createNonce, pageHeaders } from '@startgrid/shared/security.ts'
import { renderFragment } from './fragment.ts'

const Product = Type.Object({ slug: Type.String() })
const schema = { params: Product, response: { 200: Type.String() } }

const partial: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/partial/en-US/:slug', { schema }, async (request, reply) => {
    const fragment = renderFragment(request.params.slug)
    if (fragment === undefined) return reply.callNotFound()
    return reply.headers(pageHeaders(createNonce())).type('text/html; charset=utf-8').send(fragment)
  })
}

export async function createServer(options: AppOptions) {
  const app = createApp(options, partial)
  await app.ready()
  return app.server
}
