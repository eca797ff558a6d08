import { getRouterParam, getValidatedQuery, H3, HTTPResponse } from 'h3'
import { z } from 'zod'
import { fetchAsset } from '#shared/page/assets.ts'
import { renderPage } from '#shared/page/server.js'
import { recommendSlowly } from '#shared/page/shop/back-end.ts'
import { streamPage } from '#shared/page/stream-web.ts'
import { createNonce, pageHeaders } from '#shared/security.ts'
import { shedLoad } from './middleware/load-shedding.ts'

const Count = z.string().regex(/^\d+$/, 'must be a number').transform(Number)
const Items = Count.pipe(z.number().max(1000)).default(50)
const Delay = Count.pipe(z.number().max(5000)).default(50) // milliseconds
const Page = z.object({ items: Items })
const SlowPage = z.object({ items: Items, delay: Delay })

const HTML = { 'content-type': 'text/html; charset=utf-8' }

export const ssr = new H3()
  .get('/assets/**:file', (event) => fetchAsset(event.req, getRouterParam(event, 'file') ?? ''))

  .get(
    '/',
    async (event) => {
      const { items } = await getValidatedQuery(event, Page)
      const nonce = createNonce()
      const page = await renderPage('shop', { items, requestId: event.context.requestId, nonce })
      return new HTTPResponse(page, { headers: { ...pageHeaders(nonce), ...HTML } })
    },
    { middleware: [shedLoad] },
  )

  .get(
    '/stream',
    async (event) => {
      const { items, delay } = await getValidatedQuery(event, SlowPage)
      const { requestId, log } = event.context
      const nonce = createNonce()
      const { signal } = event.req
      const pending = recommendSlowly(items, delay, signal)
      const props = { items, requestId, pending, nonce }
      const page = await streamPage('shop', props, signal, (err) => log.error({ err }, 'failed'))
      return new HTTPResponse(page, { headers: { ...pageHeaders(nonce), ...HTML } })
    },
    { middleware: [shedLoad] },
  )
