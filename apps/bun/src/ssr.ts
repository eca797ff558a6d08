import { z } from 'zod'
import type { AppOptions } from '#shared/app-options.ts'
import { fetchAsset } from '#shared/page/assets.ts'
import { renderPage } from '#shared/page/server.js'
import { recommendSlowly } from '#shared/page/shop/back-end.ts'
import { streamPage } from '#shared/page/stream-web.ts'
import { parseRequest } from '#shared/problem.ts'
import { createNonce, pageHeaders } from '#shared/security.ts'
import { shedLoad } from './middleware/load-shedding.ts'
import { idOf } from './middleware/request-id.ts'

const Count = z.string().regex(/^\d+$/, 'must be a number').transform(Number)
const Items = Count.pipe(z.number().max(1000)).default(50)
const Delay = Count.pipe(z.number().max(5000)).default(50) // milliseconds
const Page = z.object({ items: Items })
const SlowPage = z.object({ items: Items, delay: Delay })

const HTML = { 'content-type': 'text/html; charset=utf-8' }

export const ssr = ({ config, log }: AppOptions) => ({
  '/assets/*': {
    GET: (request: Request) => fetchAsset(request, new URL(request.url).pathname.slice('/assets/'.length)),
  },

  '/': {
    GET: shedLoad(config, async (request) => {
      const { items } = parseRequest(Page, readQuery(request))
      const nonce = createNonce()
      const html = await renderPage('shop', { items, requestId: idOf(request), nonce })
      return new Response(html, { headers: { ...HTML, ...pageHeaders(nonce) } })
    }),
  },

  '/stream': {
    GET: shedLoad(config, async (request) => {
      const { items, delay } = parseRequest(SlowPage, readQuery(request))
      const { signal } = request
      const requestId = idOf(request)
      const nonce = createNonce()
      const props = { items, requestId, pending: recommendSlowly(items, delay, signal), nonce }
      const html = await streamPage('shop', props, signal, (err) => {
        // Bun cancels the body of a response to HEAD.
        if (request.method !== 'HEAD') log.error({ requestId, err }, 'failed')
      })
      return new Response(html, { headers: { ...HTML, ...pageHeaders(nonce) } })
    }),
  },
})

/** The query. A parameter that is given twice becomes an array. */
function readQuery({ url }: Request): object {
  return new URLSearchParams(url.split('?')[1]).toJSON()
}
