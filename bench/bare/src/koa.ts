import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import Router from '@koa/router'
import { SECURITY_HEADERS } from '@startgrid/shared/http/security-headers.ts'
import Koa from 'koa'

export function bare(): Server {
  const router = new Router()
  router.get('/json', (ctx) => {
    ctx.body = { hello: 'world' }
  })
  return createServer(new Koa().use(router.routes()).callback())
}

export function withHeaders(): Server {
  const router = new Router()
  router.get('/json', (ctx) => {
    ctx.set(SECURITY_HEADERS)
    ctx.set('x-request-id', randomUUID())
    ctx.body = { hello: 'world' }
  })
  return createServer(new Koa().use(router.routes()).callback())
}
