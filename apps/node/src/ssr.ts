import { pipeline } from 'node:stream/promises'
import { DELAY_MS, ITEMS, parseCount } from '#shared/http/count.ts'
import { closeSignal, streamPage } from '#shared/page/stream-node.ts'
import { ASSETS_DIR, renderPage } from '#shared/page/server.js'
import { recommendSlowly } from '#shared/page/shop/back-end.ts'
import { logFailure } from '#shared/process/log.ts'
import { shedLoad } from './plugins/load-shedding.ts'
import { allowScripts } from './plugins/security-headers.ts'
import { staticFiles } from './plugins/static-files.ts'
import { type Route, route } from './router.ts'

export const ssr: Route[] = [
  staticFiles(ASSETS_DIR),

  route('GET', '/', async (context) => {
    await shedLoad(context)
    const items = parseCount(context.query('items'), ITEMS)
    const { requestId } = context
    context.html(renderPage('shop', { items, requestId, nonce: allowScripts(context.response) }))
  }),

  route('GET', '/stream', async (context) => {
    await shedLoad(context)
    const items = parseCount(context.query('items'), ITEMS)
    const delayMs = parseCount(context.query('delay'), DELAY_MS)
    const { requestId, response } = context
    const signal = closeSignal(response)
    const pending = recommendSlowly(items, delayMs, signal)
    const props = { items, requestId, pending, nonce: allowScripts(context.response) }
    const html = await streamPage('shop', props, signal, (error) => logFailure(context.log, requestId, error))
    await pipeline(html, response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }))
  }),
]
