import { Hono } from 'hono'
import { validator } from 'hono/validator'
import { z } from 'zod'
import { fetchAsset } from '#shared/page/assets.ts'
import { renderPage } from '#shared/page/server.js'
import { recommendSlowly } from '#shared/page/shop/back-end.ts'
import { streamPage } from '#shared/page/stream-web.ts'
import { parseRequest } from '#shared/problem.ts'
import { createNonce, pageHeaders } from '#shared/security.ts'
import { shedLoad } from './middleware/load-shedding.ts'

const Count = z.string().regex(/^\d+$/, 'must be a number').transform(Number)
const Items = Count.pipe(z.number().max(1000)).default(50)
const Delay = Count.pipe(z.number().max(5000)).default(50) // milliseconds
const Page = z.object({ items: Items })
const SlowPage = z.object({ items: Items, delay: Delay })

export const ssr = new Hono()
  .get('/assets/:file{.+}', (c) => fetchAsset(c.req.raw, c.req.param('file')))

  .get(
    '/',
    shedLoad,
    validator('query', (query) => parseRequest(Page, query)),
    async (c) => {
      const { items } = c.req.valid('query')
      const nonce = createNonce()
      const html = await renderPage('shop', { items, requestId: c.get('requestId'), nonce })
      return c.html(html, 200, pageHeaders(nonce))
    },
  )

  .get(
    '/stream',
    shedLoad,
    validator('query', (query) => parseRequest(SlowPage, query)),
    async (c) => {
      const { items, delay } = c.req.valid('query')
      const nonce = createNonce()
      const { signal } = c.req.raw
      const pending = recommendSlowly(items, delay, signal)
      const props = { items, requestId: c.get('requestId'), pending, nonce }
      const html = await streamPage('shop', props, signal, (err) => c.get('log').error({ err }, 'failed'))
      return c.body(html, 200, { ...pageHeaders(nonce), 'content-type': 'text/html; charset=utf-8' })
    },
  )
