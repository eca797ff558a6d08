// npm install @fastify/send
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import send from '@fastify/send'
import Router from '@koa/router'
import { onFile } from '#shared/files.ts'

const root = fileURLToPath(new URL('../public', import.meta.url))

/** Lets HTML files load their scripts, styles and images. The policy of the other routes allows nothing. */
const POLICY = "default-src 'self'; frame-ancestors 'none'"

export const staticFiles = new Router()

// @koa/send knows neither ranges nor conditional requests.
staticFiles.get('/public/*file', async (ctx) => {
  const file = await send(ctx.req, ctx.path.slice('/public'.length), {
    root,
    dotfiles: 'allow', // `onFile` hides them
    onFile: onFile(root, ctx.req),
  })
  if (file.type === 'error') throw file.metadata.error
  if (file.type === 'directory') return ctx.throw(404)
  await once(file.stream, 'readable') // it is open: a failure before is a 500, not a cut response
  ctx.set({ ...file.headers, 'content-security-policy': POLICY })
  ctx.status = file.statusCode
  ctx.body = file.stream
})
