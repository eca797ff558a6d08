import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

export const status: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/_/status', async () => 'OK')
}
