import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { serve } from '#shared/testing/app.ts'
import { testService } from '#shared/testing/service.ts'
import { createApp } from '../src/app.ts'

const routes = new Hono()
  .get('/throws', () => {
    throw new Error('secret')
  })
  .get('/hangs', () => new Promise<Response>(() => {}))
  .post('/echo', async (c) => c.json(await c.req.json()))

testService((options) => serve(createAdaptorServer({ fetch: createApp(options, routes).fetch }) as Server))
