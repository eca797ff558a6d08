import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { Router } from 'express'
import expressStaticGzip from 'express-static-gzip'
import { z } from 'zod'
import { closeFile } from '#shared/files.ts'
import { ASSETS_DIR, renderPage, vite } from '#shared/page/server.js'
import { recommendSlowly } from '#shared/page/shop/back-end.ts'
import { closeSignal, streamPage } from '#shared/page/stream-node.ts'
import { parseRequest } from '#shared/problem.ts'
import { createNonce, pageHeaders } from '#shared/security.ts'
import { shedLoad } from './middleware/load-shedding.ts'

const Count = z.string().regex(/^\d+$/, 'must be a number').transform(Number)
const Items = Count.pipe(z.number().max(1000)).default(50)
const Delay = Count.pipe(z.number().max(5000)).default(50) // milliseconds
const Page = z.object({ items: Items })
const SlowPage = z.object({ items: Items, delay: Delay })

export const ssr = Router()

if (vite) ssr.use(vite.middlewares)
ssr.use(
  '/assets',
  expressStaticGzip(fileURLToPath(ASSETS_DIR), {
    enableBrotli: true,
    orderPreference: ['br', 'gzip'],
    serveStatic: { immutable: true, maxAge: '1y', setHeaders: closeFile },
  }),
)

ssr.get('/', shedLoad, async (request, response) => {
  const { items } = parseRequest(Page, request.query)
  const nonce = createNonce()
  response.set(pageHeaders(nonce))
  response.type('html').send(await renderPage('shop', { items, requestId: request.id, nonce }))
})

ssr.get('/stream', shedLoad, async (request, response) => {
  const { items, delay } = parseRequest(SlowPage, request.query)
  const nonce = createNonce()
  const signal = closeSignal(response)
  const pending = recommendSlowly(items, delay, signal)
  const props = { items, requestId: request.id, pending, nonce }
  const html = await streamPage('shop', props, signal, (err) => request.log.error({ err }, 'failed'))
  response.set(pageHeaders(nonce))
  await pipeline(html, response.type('html'))
})
