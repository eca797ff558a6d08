import Router from '@koa/router'
import { serve } from '#shared/testing/app.ts'
import { testService } from '#shared/testing/service.ts'
import { createApp } from '../src/app.ts'

const routes = new Router()
  .get('/throws', () => {
    throw new Error('secret')
  })
  .get('/hangs', () => new Promise(() => {}))
  .post('/echo', (ctx) => {
    ctx.body = ctx.request.body
  })

testService((options) => serve(createApp(options, routes).callback()))
