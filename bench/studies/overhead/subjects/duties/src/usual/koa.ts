import { createServer } from 'node:http'
import { bodyParser } from '@koa/bodyparser'
import Router from '@koa/router'
import Koa from 'koa'
import helmet from 'koa-helmet'
// @ts-expect-error: it has no types
import logger from 'koa-pino-logger'
import { log } from './log.ts'
import { genReqId } from './request-id.ts'

const router = new Router()
router.get('/json', (ctx) => {
  ctx.body = { hello: 'world' }
})

const app = new Koa()
app.use(logger({ genReqId, ...(log && { logger: log }) }))
app.use(helmet())
app.use(bodyParser())
app.use(router.routes())
app.use(router.allowedMethods())

export const usual = () => createServer(app.callback())
