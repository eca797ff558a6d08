import type { FastifyPluginAsync } from 'fastify'
import { serve } from '#shared/testing/app.ts'
import { testService } from '#shared/testing/service.ts'
import { createApp } from '../src/app.ts'

const routes: FastifyPluginAsync = async (app) => {
  app.get('/throws', () => {
    throw new Error('secret')
  })
  app.get('/hangs', () => new Promise(() => {}))
  app.post('/echo', async ({ body }) => body)
}

testService(async (options) => {
  const app = createApp(options, routes)
  await app.ready()
  return serve(app.server)
})
