import { pipeline } from 'node:stream/promises'
import { findAsset, isFresh, readAssets, requireAssets } from '#shared/http/assets.ts'
import { DELAY_MS, HTML, IMMUTABLE, ITEMS, parseCount } from '#shared/http/contract.ts'
import { createNonce } from '#shared/http/ids.ts'
import { createLoadShedder, RETRY_AFTER } from '#shared/http/load-shedding.ts'
import { pagePolicy } from '#shared/http/security-headers.ts'
import { closeSignal, streamDocument } from '#shared/http/stream-node.ts'
import { ASSETS, ASSETS_DIR, renderDocument, renderPartial } from '#shared/page/server.js'
import { logFailure } from '#shared/process/log.ts'
import { type App, createBase, type Options } from './base.ts'

export function createApp(options: Options): App {
  requireAssets(ASSETS, ASSETS_DIR)
  const assets = readAssets(ASSETS_DIR)
  const shouldShed = createLoadShedder(options.config.maxQueueWaitMs)

  return createBase(options, [
    {
      method: 'GET',
      path: '/',
      async handle(exchange) {
        if (await shouldShed(exchange.response))
          return exchange.sendProblem(503, { 'retry-after': RETRY_AFTER })
        const items = parseCount(exchange.query('items'), ITEMS)
        const nonce = createNonce()
        const html = renderDocument({ items, requestId: exchange.id, nonce })
        exchange.send(200, HTML, html, { 'content-security-policy': pagePolicy(nonce) })
      },
    },

    {
      method: 'GET',
      path: '/stream',
      async handle(exchange) {
        if (await shouldShed(exchange.response))
          return exchange.sendProblem(503, { 'retry-after': RETRY_AFTER })
        const items = parseCount(exchange.query('items'), ITEMS)
        const delayMs = parseCount(exchange.query('delay'), DELAY_MS)
        const { id: requestId, request, response } = exchange
        const nonce = createNonce()
        const headers = exchange.headers({
          'content-type': HTML,
          'content-security-policy': pagePolicy(nonce),
        })
        if (request.method === 'HEAD') {
          response.writeHead(200, headers).end()
          return
        }
        const gone = closeSignal(response)
        const logError = (error: unknown) => logFailure(options.log, requestId, error)
        const html = await streamDocument({ items, requestId, nonce, delayMs }, gone, logError)
        await pipeline(html, response.writeHead(200, headers)).catch((error: unknown) => {
          if (!gone.aborted) throw error
        })
      },
    },

    {
      method: 'GET',
      path: '/partial/:locale/:slug',
      async handle(exchange) {
        if (await shouldShed(exchange.response))
          return exchange.sendProblem(503, { 'retry-after': RETRY_AFTER })
        const [locale = '', slug = ''] = exchange.params
        const fragment = renderPartial(locale, slug)
        if (fragment === undefined) exchange.sendProblem(404)
        else exchange.send(200, HTML, fragment, { 'content-security-policy': pagePolicy(createNonce()) })
      },
    },

    {
      method: 'GET',
      path: '/assets/*',
      handle(exchange) {
        const { headers } = exchange.request
        const asset = findAsset(assets, exchange.params[0] ?? '', headers['accept-encoding'])
        if (asset === undefined) return exchange.sendProblem(404)
        const { type, coding, bytes, etag } = asset
        const caching = { etag, vary: 'Accept-Encoding', 'cache-control': IMMUTABLE }
        if (isFresh(headers['if-none-match'], etag)) {
          exchange.response.writeHead(304, exchange.headers(caching)).end()
        } else {
          exchange.send(200, type, bytes, coding ? { ...caching, 'content-encoding': coding } : caching)
        }
      },
    },
  ])
}
