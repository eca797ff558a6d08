import { pipeline } from 'node:stream/promises'
import { Router } from 'express'
import { z } from 'zod'
import { streamDocument } from '#shared/http/stream-node.ts'
import { ASSETS_DIR, renderDocument } from '#shared/page/server.js'
import { shedLoad } from './middleware/load-shedding.ts'
import { allowScripts } from './middleware/security-headers.ts'
import { staticFiles } from './middleware/static-files.ts'

const Count = z.string().regex(/^\d+$/, 'must be a number').transform(Number)
const Items = Count.pipe(z.number().max(1000)).default(50)
const Delay = Count.pipe(z.number().max(5000)).default(50) // milliseconds
const Page = z.object({ items: Items })
const SlowPage = z.object({ items: Items, delay: Delay })

export const ssr = Router({ caseSensitive: true, strict: true })

ssr.use(staticFiles(ASSETS_DIR))

ssr.get('/', shedLoad, (request, response) => {
  const { items } = Page.parse(request.query)
  const props = { items, requestId: request.id, nonce: allowScripts(response) }
  response.type('html').send(renderDocument(props))
})

ssr.get('/stream', shedLoad, async (request, response) => {
  const { items, delay } = SlowPage.parse(request.query)
  const props = { items, delayMs: delay, requestId: request.id, nonce: allowScripts(response) }
  const closing = new AbortController()
  response.once('close', () => closing.abort())
  const html = await streamDocument(props, closing.signal, (err) => request.log.error({ err }, 'failed'))
  await pipeline(html, response.type('html'))
})
