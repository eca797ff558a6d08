import { z } from 'zod'
import { openAsset } from '#shared/page/assets.ts'
import { renderPage, vite } from '#shared/page/server.js'
import { recommendSlowly } from '#shared/page/shop/back-end.ts'
import { closeSignal, streamPage } from '#shared/page/stream-node.ts'
import { parseRequest } from '#shared/problem.ts'
import { createNonce, pageHeaders } from '#shared/security.ts'
import { shedLoad } from './middleware/load-shedding.ts'
import { route } from './router.ts'

const Count = z.string().regex(/^\d+$/, 'must be a number').transform(Number)
const Items = Count.pipe(z.number().max(1000)).default(50)
const Delay = Count.pipe(z.number().max(5000)).default(50) // milliseconds
const Page = z.object({ items: Items })
const SlowPage = z.object({ items: Items, delay: Delay })

export const ssr = [
  route('GET', '/assets/*', async (context) => {
    if (vite) return vite.middlewares(context.request, context.response)
    const { stream, status, headers } = await openAsset(
      context.request,
      context.path.slice('/assets/'.length),
    )
    await context.stream(stream, status, headers)
  }),

  route(
    'GET',
    '/',
    shedLoad(async (context) => {
      const { items } = parseRequest(Page, context.query)
      const { requestId, response } = context
      const nonce = createNonce()
      response.setHeaders(new Map(Object.entries(pageHeaders(nonce))))
      context.html(await renderPage('shop', { items, requestId, nonce }))
    }),
  ),

  route(
    'GET',
    '/stream',
    shedLoad(async (context) => {
      const { items, delay } = parseRequest(SlowPage, context.query)
      const { requestId, response, log } = context
      const nonce = createNonce()
      const signal = closeSignal(response)
      const pending = recommendSlowly(items, delay, signal)
      const props = { items, requestId, pending, nonce }
      const html = await streamPage('shop', props, signal, (err) => log.error({ err }, 'failed'))
      const headers = { ...pageHeaders(nonce), 'content-type': 'text/html; charset=utf-8' }
      await context.stream(html, 200, headers)
    }),
  ),
]
