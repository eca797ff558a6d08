// npm install @koa/send
import { fileURLToPath } from 'node:url'
import Router from '@koa/router'
import { send } from '@koa/send'

const root = fileURLToPath(new URL('../public', import.meta.url))

/** Lets HTML files load their scripts, styles and images. The policy of the other routes allows nothing. */
const POLICY = "default-src 'self'; frame-ancestors 'none'"

export const staticFiles = new Router()

staticFiles.get('/public/*file', async (ctx) => {
  await send(ctx, ctx.path.slice('/public/'.length), {
    root,
    setHeaders: (response) => response.setHeader('content-security-policy', POLICY),
  })
})
