import type { FastifyPluginAsync } from 'fastify'

export const status: FastifyPluginAsync = async (app) => {
  app.get('/_/status', async () => 'OK')
}
