import type { Server } from 'node:http'
import { H3, serve as serveH3 } from 'h3'
import { serve } from '#shared/testing/app.ts'
import { testService } from '#shared/testing/service.ts'
import { createApp } from '../src/app.ts'

const routes = new H3()
  .get('/throws', () => {
    throw new Error('secret')
  })
  .get('/hangs', () => new Promise(() => {}))
  .post('/echo', ({ req }) => req.json())

testService((options) => {
  const limits = { maxRequestBodySize: 64 * 1024 } // as in src/server.ts
  const { node } = serveH3(createApp(options, routes), { manual: true, gracefulShutdown: false, ...limits })
  return serve(node?.server as Server)
})
