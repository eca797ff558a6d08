import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import type { RequestHandler } from 'express'
import expressStaticGzip from 'express-static-gzip'
import { assetType, prepareAssetRequest, requireAssets } from '#shared/http/assets.ts'
import { DELAY_MS, HTML, IMMUTABLE, ITEMS, PRIVATE, PROBLEM_JSON, parseCount } from '#shared/http/contract.ts'
import { createNonce } from '#shared/http/ids.ts'
import { createLoadShedder, RETRY_AFTER } from '#shared/http/load-shedding.ts'
import { HttpProblem, problem } from '#shared/http/problem.ts'
import { pagePolicy } from '#shared/http/security-headers.ts'
import { closeSignal, streamDocument } from '#shared/http/stream-node.ts'
import { ASSETS, ASSETS_DIR, renderDocument, renderPartial } from '#shared/page/server.js'
import { logFailure } from '#shared/process/log.ts'
import { type App, createBase, get, type Options } from './base.ts'

export function createApp(options: Options): Promise<App> {
  requireAssets(ASSETS, ASSETS_DIR)
  const shouldShed = createLoadShedder(options.config.maxQueueWaitMs)
  const shed: RequestHandler = async (_request, response, next) => {
    if (!(await shouldShed(response))) return next()
    response
      .status(503)
      .set('retry-after', RETRY_AFTER)
      .set('content-type', PROBLEM_JSON)
      .send(Buffer.from(problem(503)))
  }

  return createBase(options, (router) => {
    get(router, '/', shed, (request, response) => {
      const items = parseCount(request.query.items, ITEMS)
      const nonce = createNonce()
      response
        .set('content-security-policy', pagePolicy(nonce))
        .set('cache-control', PRIVATE)
        .type(HTML)
        .send(renderDocument({ items, requestId: response.locals.id, nonce }))
    })

    get(router, '/stream', shed, async (request, response) => {
      const items = parseCount(request.query.items, ITEMS)
      const delayMs = parseCount(request.query.delay, DELAY_MS)
      const requestId = response.locals.id
      const nonce = createNonce()
      response.set('content-security-policy', pagePolicy(nonce)).set('cache-control', PRIVATE).type(HTML)
      if (request.method === 'HEAD') {
        response.end()
        return
      }
      const gone = closeSignal(response)
      const logError = (error: unknown) => logFailure(options.log, requestId, error)
      const html = await streamDocument({ items, requestId, nonce, delayMs }, gone, logError)
      await pipeline(html, response).catch((error: unknown) => {
        if (!gone.aborted) throw error
      })
    })

    get(router, '/partial/:locale/:slug', shed, (request, response) => {
      const fragment = renderPartial(request.params.locale ?? '', request.params.slug ?? '')
      if (fragment === undefined) throw new HttpProblem(404)
      response
        .set('content-security-policy', pagePolicy(createNonce()))
        .set('cache-control', PRIVATE)
        .type(HTML)
        .send(fragment)
    })

    get(router, '/assets/*file', (request, response, next) => {
      // A pipelined response that waits behind another gets no event when the client leaves. Without this, its file would stay open.
      response.once('pipe', (file: Readable) => request.once('close', () => file.destroy()))
      next(prepareAssetRequest(request) ? 'route' : new HttpProblem(404))
    })
    router.use(
      '/assets',
      expressStaticGzip(fileURLToPath(ASSETS_DIR), {
        enableBrotli: true,
        orderPreference: ['br', 'gz'],
        index: false,
        serveStatic: {
          redirect: false,
          cacheControl: false,
          lastModified: false,
          acceptRanges: false,
          setHeaders: (response, path) => {
            response.setHeader('cache-control', IMMUTABLE)
            response.setHeader('content-type', assetType(path))
          },
        },
      }),
    )
  })
}
