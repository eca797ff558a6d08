import { fileURLToPath } from 'node:url'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono } from 'hono'
import { z } from 'zod'
import { IMMUTABLE } from '#shared/http/assets.ts'
import { streamPage } from '#shared/page/stream-web.ts'
import { ASSETS_DIR, renderPage } from '#shared/page/server.js'
import { recommendSlowly } from '#shared/page/shop/back-end.ts'
import { shedLoad } from './middleware/load-shedding.ts'
import { allowScripts } from './middleware/security-headers.ts'
import { validator } from './middleware/validator.ts'

const count = (max: number) =>
  z.string().regex(/^\d+$/, 'must be a whole number').transform(Number).pipe(z.number().max(max)).default(50)

const Items = z.object({ items: count(1000) })
/** `delay` is in milliseconds. */
const Stream = Items.extend({ delay: count(5000) })

export const ssr = new Hono()
  .get(
    '/assets/*',
    serveStatic({
      root: fileURLToPath(ASSETS_DIR),
      rewriteRequestPath: (path) => path.replace('/assets', ''),
      precompressed: true,
      onFound: (_path, c) => c.header('cache-control', IMMUTABLE),
    }),
  )

  .get('/', shedLoad, validator('query', Items), (c) => {
    const props = { ...c.req.valid('query'), requestId: c.get('requestId'), nonce: allowScripts(c) }
    return c.html(renderPage('shop', props))
  })

  .get('/stream', shedLoad, validator('query', Stream), async (c) => {
    const { items, delay } = c.req.valid('query')
    const requestId = c.get('requestId')
    const { signal } = c.req.raw
    const pending = recommendSlowly(items, delay, signal)
    const props = { items, requestId, pending, nonce: allowScripts(c) }
    const stream = await streamPage('shop', props, signal, (err) =>
      c.get('log').error({ requestId, err }, 'failed'),
    )
    return c.body(stream, 200, { 'content-type': 'text/html; charset=utf-8' })
  })
