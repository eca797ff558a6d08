import { fileURLToPath } from 'node:url'
import type { RouterMiddleware } from '@koa/router'
import { send } from '@koa/send'
import { prepareAssetRequest, requireAssets } from '#shared/http/assets.ts'
import { DELAY_MS, HTML, IMMUTABLE, ITEMS, parseCount } from '#shared/http/contract.ts'
import { createNonce } from '#shared/http/ids.ts'
import { createLoadShedder, RETRY_AFTER } from '#shared/http/load-shedding.ts'
import { HttpProblem } from '#shared/http/problem.ts'
import { pagePolicy } from '#shared/http/security-headers.ts'
import { closeSignal, streamDocument } from '#shared/http/stream-node.ts'
import { ASSETS, ASSETS_DIR, renderDocument, renderPartial } from '#shared/page/server.js'
import { logFailure } from '#shared/process/log.ts'
import { type App, createBase, type Options, sendProblem } from './base.ts'

export function createApp(options: Options): App {
  requireAssets(ASSETS, ASSETS_DIR)
  const shouldShed = createLoadShedder(options.config.maxQueueWaitMs)
  const shed: RouterMiddleware = async (ctx, next) => {
    if (!(await shouldShed(ctx.res))) return next()
    ctx.set('retry-after', RETRY_AFTER)
    sendProblem(ctx, 503)
  }

  return createBase(options, (router) => {
    router.get('/', shed, (ctx) => {
      const items = parseCount(ctx.query.items, ITEMS)
      const nonce = createNonce()
      ctx.set('content-security-policy', pagePolicy(nonce))
      ctx.type = HTML
      ctx.body = renderDocument({ items, requestId: ctx.state.id, nonce })
    })

    router.get('/stream', shed, async (ctx) => {
      const items = parseCount(ctx.query.items, ITEMS)
      const delayMs = parseCount(ctx.query.delay, DELAY_MS)
      const requestId = ctx.state.id
      const nonce = createNonce()
      ctx.set('content-security-policy', pagePolicy(nonce))
      ctx.type = HTML
      ctx.status = 200
      if (ctx.method === 'HEAD') return
      const gone = closeSignal(ctx.res)
      const logError = (error: unknown) => logFailure(options.log, requestId, error)
      ctx.body = await streamDocument({ items, requestId, nonce, delayMs }, gone, logError)
    })

    router.get('/partial/:locale/:slug', shed, (ctx) => {
      const fragment = renderPartial(ctx.params.locale ?? '', ctx.params.slug ?? '')
      if (fragment === undefined) throw new HttpProblem(404)
      ctx.set('content-security-policy', pagePolicy(createNonce()))
      ctx.type = HTML
      ctx.body = fragment
    })

    router.get('/assets/*file', async (ctx) => {
      if (!prepareAssetRequest(ctx.req)) throw new HttpProblem(404)
      const sent = await send(ctx, ctx.path.slice('/assets/'.length), {
        root: fileURLToPath(ASSETS_DIR),
        setHeaders: (_response, _path, { size, mtimeMs }) => {
          ctx.set('cache-control', IMMUTABLE)
          ctx.etag = `W/"${size.toString(16)}-${mtimeMs.toString(16)}"`
        },
      })
      if (!sent) throw new HttpProblem(404)
      ctx.vary('Accept-Encoding')
      ctx.remove('last-modified')
      if (ctx.fresh) {
        ctx.status = 304
        ctx.remove('content-encoding')
      }
    })
  })
}
