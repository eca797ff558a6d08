import { fileURLToPath } from 'node:url'
import { getValidatedQuery, H3, HTTPResponse, html, raw } from 'h3'
import { z } from 'zod'
import { IMMUTABLE } from '#shared/http/assets.ts'
import { streamPage } from '#shared/page/stream-web.ts'
import { ASSETS_DIR, renderPage } from '#shared/page/server.js'
import { recommendSlowly } from '#shared/page/shop/back-end.ts'
import { shedLoad } from './middleware/load-shedding.ts'
import { allowScripts } from './middleware/security-headers.ts'
import { serveFiles } from './middleware/static-files.ts'

const count = (max: number) =>
  z.string().regex(/^\d+$/, 'must be a whole number').transform(Number).pipe(z.number().max(max)).default(50)

const Items = z.object({ items: count(1000) })
/** `delay` is in milliseconds. */
const Stream = Items.extend({ delay: count(5000) })

export const ssr = new H3()
  .get('/assets/**', serveFiles('/assets', fileURLToPath(ASSETS_DIR), { 'cache-control': IMMUTABLE }))

  .get(
    '/',
    async (event) => {
      const { items } = await getValidatedQuery(event, Items)
      const { requestId } = event.context
      return html(raw(renderPage('shop', { items, requestId, nonce: allowScripts(event) })))
    },
    { middleware: [shedLoad] },
  )

  .get(
    '/stream',
    async (event) => {
      const { items, delay } = await getValidatedQuery(event, Stream)
      const { requestId, log } = event.context
      const { signal } = event.req
      const pending = recommendSlowly(items, delay, signal)
      const props = { items, requestId, pending, nonce: allowScripts(event) }
      const stream = await streamPage('shop', props, signal, (err) => log.error({ requestId, err }, 'failed'))
      return new HTTPResponse(stream, { headers: { 'content-type': 'text/html; charset=utf-8' } })
    },
    { middleware: [shedLoad] },
  )
