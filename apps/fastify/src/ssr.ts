import { Readable } from 'node:stream'
import fastifyStatic from '@fastify/static'
import type { onRequestAsyncHookHandler } from 'fastify'
import { assetType, prepareAssetRequest, requireAssets } from '#shared/http/assets.ts'
import { DELAY_MS, HTML, IMMUTABLE, ITEMS, pagePolicy, parseCount } from '#shared/http/contract.ts'
import { createNonce } from '#shared/http/ids.ts'
import { createOverload, RETRY_AFTER } from '#shared/http/overload.ts'
import { HttpProblem } from '#shared/http/problem.ts'
import { closeSignal, streamDocument } from '#shared/http/stream-node.ts'
import { ASSETS, ASSETS_DIR, renderDocument, renderPartial } from '#shared/page/server.js'
import { logFailure } from '#shared/process/log.ts'
import { type App, createBase, type Options, sendProblem } from './base.ts'

interface Query {
  items?: string
  delay?: string
}

export function createApp(options: Options): App {
  requireAssets(ASSETS, ASSETS_DIR)
  const app = createBase(options)
  const isBehind = createOverload(options.config.shedAfterMs)
  const shed: onRequestAsyncHookHandler = async (_request, reply) => {
    if (await isBehind(reply.raw)) return sendProblem(reply.header('retry-after', RETRY_AFTER), 503)
  }

  app.get<{ Querystring: Query }>('/', { onRequest: shed }, (request, reply) => {
    const items = parseCount(request.query.items, ITEMS)
    const nonce = createNonce()
    return reply
      .header('content-security-policy', pagePolicy(nonce))
      .type(HTML)
      .send(renderDocument({ items, requestId: request.id, nonce }))
  })

  app.get<{ Querystring: Query }>('/stream', { onRequest: shed }, async (request, reply) => {
    const items = parseCount(request.query.items, ITEMS)
    const delayMs = parseCount(request.query.delay, DELAY_MS)
    const nonce = createNonce()
    reply.header('content-security-policy', pagePolicy(nonce)).type(HTML)
    if (request.method === 'HEAD') return reply.send(Readable.from([])) // without a body it would say content-length: 0
    const props = { items, requestId: request.id, nonce, delayMs }
    return reply.send(
      await streamDocument(props, closeSignal(reply.raw), (error) =>
        logFailure(options.log, request.id, error),
      ),
    )
  })

  app.get<{ Params: { locale: string; slug: string } }>(
    '/partial/:locale/:slug',
    { onRequest: shed },
    (request, reply) => {
      const fragment = renderPartial(request.params.locale, request.params.slug)
      if (fragment === undefined) throw new HttpProblem(404)
      return reply.header('content-security-policy', pagePolicy(createNonce())).type(HTML).send(fragment)
    },
  )

  app.register(serveAssets)

  return app
}

async function serveAssets(app: App): Promise<void> {
  app.addHook('onRequest', (request, _reply, done) => {
    done(prepareAssetRequest(request.raw) ? undefined : new HttpProblem(404))
  })
  await app.register(fastifyStatic, {
    root: ASSETS_DIR,
    prefix: '/assets/',
    preCompressed: true,
    cacheControl: false,
    lastModified: false,
    acceptRanges: false,
    setHeaders: (reply) => reply.header('cache-control', IMMUTABLE),
  })
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (reply.statusCode === 200) reply.header('content-type', assetType(request.url))
    // The plugin describes a body that 304 has not (RFC 9110 section 15.4.5).
    if (reply.statusCode === 304) reply.removeHeader('content-type').removeHeader('content-encoding')
    if (reply.hasHeader('vary')) reply.header('vary', 'Accept-Encoding')
    done()
  })
}
