import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'

export const status: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/_/status', { schema: { response: { 200: Type.String() } } }, async () => 'OK')
}
