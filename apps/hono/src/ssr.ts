import type { MiddlewareHandler } from 'hono'
import { findAsset, isFresh, readAssets, requireAssets } from '#shared/http/assets.ts'
import { DELAY_MS, HTML, IMMUTABLE, ITEMS, parseCount } from '#shared/http/contract.ts'
import { createNonce } from '#shared/http/ids.ts'
import { createLoadShedder, RETRY_AFTER } from '#shared/http/load-shedding.ts'
import { HttpProblem } from '#shared/http/problem.ts'
import { pagePolicy } from '#shared/http/security-headers.ts'
import { streamDocument } from '#shared/http/stream-web.ts'
import { ASSETS, ASSETS_DIR, renderDocument, renderPartial } from '#shared/page/server.js'
import { logFailure } from '#shared/process/log.ts'
import { type App, createBase, type Env, get, headersOf, type Options, send, sendProblem } from './base.ts'

export function createApp(options: Options): App {
  requireAssets(ASSETS, ASSETS_DIR)
  const app = createBase(options)
  const shouldShed = createLoadShedder(options.config.maxQueueWaitMs)
  const shed: MiddlewareHandler<Env> = async (c, next) =>
    (await shouldShed(c.env.outgoing)) ? sendProblem(c, 503, { 'retry-after': RETRY_AFTER }) : next()

  get(app, '/', shed, (c) => {
    const items = parseCount(c.req.queries('items'), ITEMS)
    const nonce = createNonce()
    const html = renderDocument({ items, requestId: c.get('id'), nonce })
    return send(c, 200, HTML, html, { 'content-security-policy': pagePolicy(nonce) })
  })

  get(app, '/stream', shed, async (c) => {
    const items = parseCount(c.req.queries('items'), ITEMS)
    const delayMs = parseCount(c.req.queries('delay'), DELAY_MS)
    const requestId = c.get('id')
    const nonce = createNonce()
    const headers = headersOf(c, { 'content-type': HTML, 'content-security-policy': pagePolicy(nonce) })
    if (c.req.method === 'HEAD') return new Response(null, { headers })
    const logError = (error: unknown) => logFailure(options.log, requestId, error)
    const html = await streamDocument({ items, requestId, nonce, delayMs }, c.req.raw.signal, logError)
    return new Response(html, { headers })
  })

  get(app, '/partial/:locale/:slug', shed, (c) => {
    const fragment = renderPartial(c.req.param('locale'), c.req.param('slug'))
    if (fragment === undefined) throw new HttpProblem(404)
    return send(c, 200, HTML, fragment, { 'content-security-policy': pagePolicy(createNonce()) })
  })

  // serveStatic of @hono/node-server honours ranges, ignores the weights in Accept-Encoding and knows no entity tags.
  const assets = readAssets(ASSETS_DIR)
  get(app, '/assets/:file{.+}', (c) => {
    const asset = findAsset(assets, c.req.param('file'), c.req.header('accept-encoding'))
    if (asset === undefined) throw new HttpProblem(404)
    const { type, coding, bytes, etag } = asset
    const caching = { etag, vary: 'Accept-Encoding', 'cache-control': IMMUTABLE }
    if (isFresh(c.req.header('if-none-match'), etag)) {
      return new Response(null, { status: 304, headers: headersOf(c, caching) })
    }
    return send(c, 200, type, bytes, coding ? { ...caching, 'content-encoding': coding } : caching)
  })

  return app
}
