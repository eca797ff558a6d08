// npm install @fastify/send
import { fileURLToPath } from 'node:url'
import send from '@fastify/send'
import Router from '@koa/router'
import { openFile } from '#shared/files.ts'

const root = fileURLToPath(new URL('../public', import.meta.url))

export const staticFiles = new Router()

// @koa/send knows neither ranges nor conditional requests.
staticFiles.get('/public/*file', async (ctx) => {
  const { status, headers, stream } = await openFile(send, root, ctx.req, ctx.path.slice('/public'.length))
  ctx.set(headers)
  ctx.status = status
  ctx.body = stream
})
