import Router from '@koa/router'
import { z } from 'zod'
import { openAsset } from '#shared/page/assets.ts'
import { renderPage, vite } from '#shared/page/server.js'
import { recommendSlowly } from '#shared/page/shop/back-end.ts'
import { closeSignal, streamPage } from '#shared/page/stream-node.ts'
import { parseRequest } from '#shared/problem.ts'
import { createNonce, pageHeaders } from '#shared/security.ts'
import { shedLoad } from './middleware/load-shedding.ts'

const Count = z.string().regex(/^\d+$/, 'must be a number').transform(Number)
const Items = Count.pipe(z.number().max(1000)).default(50)
const Delay = Count.pipe(z.number().max(5000)).default(50) // milliseconds
const Page = z.object({ items: Items })
const SlowPage = z.object({ items: Items, delay: Delay })

export const ssr = new Router()

ssr.get('/assets/*file', async (ctx) => {
  if (vite) {
    ctx.respond = false
    return vite.middlewares(ctx.req, ctx.res)
  }
  const { stream, status, headers } = await openAsset(ctx.req, ctx.params.file ?? '')
  ctx.set(headers)
  ctx.status = status
  ctx.body = stream
})

ssr.get('/', shedLoad, async (ctx) => {
  const { items } = parseRequest(Page, ctx.query)
  const nonce = createNonce()
  ctx.set(pageHeaders(nonce))
  ctx.body = await renderPage('shop', { items, requestId: ctx.state.requestId, nonce })
})

ssr.get('/stream', shedLoad, async (ctx) => {
  const { items, delay } = parseRequest(SlowPage, ctx.query)
  const nonce = createNonce()
  const signal = closeSignal(ctx.res)
  const pending = recommendSlowly(items, delay, signal)
  const props = { items, requestId: ctx.state.requestId, pending, nonce }
  ctx.set(pageHeaders(nonce))
  ctx.type = 'html'
  ctx.body = await streamPage('shop', props, signal, (err) => ctx.log.error({ err }, 'failed'))
})
