import { findAsset, isFresh, readAssets } from '#shared/assets.ts'
import { DELAY_MS, HTML, IMMUTABLE, ITEMS, pagePolicy, parseCount } from '#shared/contract.ts'
import { createNonce } from '#shared/ids.ts'
import { logFailure } from '#shared/log.ts'
import { ASSETS_DIR, renderDocument, renderPartial } from '#shared/page/server.js'
import { HttpProblem } from '#shared/problem.ts'
import { streamDocument } from '#shared/stream-web.ts'
import { type App, createBase, get, type Options } from './base.ts'

export function createApp(options: Options): App {
  const app = createBase(options)

  get(app, '/', (c) => {
    const items = parseCount(c.req.queries('items'), ITEMS)
    const nonce = createNonce()
    c.header('content-security-policy', pagePolicy(nonce))
    return c.html(renderDocument({ items, requestId: c.var.id, nonce }), 200, { 'content-type': HTML })
  })

  get(app, '/stream', async (c) => {
    const items = parseCount(c.req.queries('items'), ITEMS)
    const delayMs = parseCount(c.req.queries('delay'), DELAY_MS)
    const requestId = c.var.id
    const nonce = createNonce()
    c.header('content-security-policy', pagePolicy(nonce))
    c.header('content-type', HTML)
    if (c.req.method === 'HEAD') return c.body(null)
    const logError = (error: unknown) => logFailure(options.log, requestId, error)
    return c.body(await streamDocument({ items, requestId, nonce, delayMs }, c.req.raw.signal, logError))
  })

  get(app, '/partial/:locale/:slug', (c) => {
    const fragment = renderPartial(c.req.param('locale'), c.req.param('slug'))
    if (fragment === undefined) throw new HttpProblem(404)
    c.header('content-security-policy', pagePolicy(createNonce()))
    return c.html(fragment, 200, { 'content-type': HTML })
  })

  // serveStatic of @hono/node-server honours ranges, ignores the weights in Accept-Encoding and knows no entity tags.
  const assets = readAssets(ASSETS_DIR)
  get(app, '/assets/:file{.+}', (c) => {
    const asset = findAsset(assets, c.req.param('file'), c.req.header('accept-encoding'))
    if (asset === undefined) throw new HttpProblem(404)
    const { type, coding, bytes, etag } = asset
    const caching = { etag, vary: 'Accept-Encoding', 'cache-control': IMMUTABLE }
    if (isFresh(c.req.header('if-none-match'), etag)) return c.body(null, 304, caching)
    return c.body(bytes, 200, {
      ...caching,
      'content-type': type,
      ...(coding && { 'content-encoding': coding }),
    })
  })

  return app
}
