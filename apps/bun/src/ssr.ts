import { findAsset, isFresh, readAssets, requireAssets } from '#shared/http/assets.ts'
import { DELAY_MS, HTML, IMMUTABLE, ITEMS, parseCount } from '#shared/http/contract.ts'
import { createNonce } from '#shared/http/ids.ts'
import { RETRY_AFTER } from '#shared/http/load-shedding.ts'
import { pagePolicy } from '#shared/http/security-headers.ts'
import { streamDocument } from '#shared/http/stream-web.ts'
import { createTurnAge } from '#shared/http/turn-age.ts'
import { ASSETS, ASSETS_DIR, renderDocument, renderPartial } from '#shared/page/server.js'
import { logFailure } from '#shared/process/log.ts'
import { type App, createBase, type Options } from './base.ts'

export function createApp(options: Options): App {
  requireAssets(ASSETS, ASSETS_DIR)
  const assets = readAssets(ASSETS_DIR)
  const shouldShed = createTurnAge(options.config.maxQueueWaitMs)

  return createBase(options, [
    {
      method: 'GET',
      path: '/',
      handle(exchange) {
        if (shouldShed()) return exchange.sendProblem(503, { 'retry-after': RETRY_AFTER })
        const items = parseCount(exchange.query('items'), ITEMS)
        const nonce = createNonce()
        const html = renderDocument({ items, requestId: exchange.id, nonce })
        return exchange.send(200, HTML, html, { 'content-security-policy': pagePolicy(nonce) })
      },
    },

    {
      method: 'GET',
      path: '/stream',
      async handle(exchange) {
        if (shouldShed()) return exchange.sendProblem(503, { 'retry-after': RETRY_AFTER })
        const items = parseCount(exchange.query('items'), ITEMS)
        const delayMs = parseCount(exchange.query('delay'), DELAY_MS)
        const { id: requestId, request } = exchange
        const nonce = createNonce()
        const headers = { 'content-security-policy': pagePolicy(nonce) }
        // An empty stream, because Bun takes the length of a body that is none to be 0.
        if (request.method === 'HEAD') return exchange.send(200, HTML, new ReadableStream(), headers)
        const logError = (error: unknown) => logFailure(options.log, requestId, error)
        const html = await streamDocument({ items, requestId, nonce, delayMs }, request.signal, logError)
        // As it is: React tells of what fails and gives up what is slow, and Bun streams its kind of stream best.
        return new Response(html, { headers: exchange.headers({ 'content-type': HTML, ...headers }) })
      },
    },

    {
      method: 'GET',
      path: '/partial/:locale/:slug',
      handle(exchange) {
        if (shouldShed()) return exchange.sendProblem(503, { 'retry-after': RETRY_AFTER })
        const { locale = '', slug = '' } = exchange.params
        const fragment = renderPartial(locale, slug)
        if (fragment === undefined) return exchange.sendProblem(404)
        return exchange.send(200, HTML, fragment, { 'content-security-policy': pagePolicy(createNonce()) })
      },
    },

    {
      method: 'GET',
      path: '/assets/*',
      handle(exchange) {
        const { headers } = exchange.request
        const asset = findAsset(
          assets,
          exchange.path.slice('/assets/'.length),
          headers.get('accept-encoding'),
        )
        if (asset === undefined) return exchange.sendProblem(404)
        const { type, coding, bytes, etag } = asset
        const caching = { etag, vary: 'Accept-Encoding', 'cache-control': IMMUTABLE }
        if (isFresh(headers.get('if-none-match'), etag)) {
          return new Response(null, { status: 304, headers: exchange.headers(caching) })
        }
        return exchange.send(200, type, bytes, coding ? { ...caching, 'content-encoding': coding } : caching)
      },
    },
  ])
}
