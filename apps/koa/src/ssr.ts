import Router from '@koa/router'
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

export const ssr = new Router({ sensitive: true, strict: true })

ssr.get('/assets/*file', staticFiles(ASSETS_DIR))

ssr.get('/', shedLoad, (ctx) => {
  const { items } = Page.parse(ctx.query)
  ctx.body = renderDocument({ items, requestId: ctx.state.requestId, nonce: allowScripts(ctx) })
})

ssr.get('/stream', shedLoad, async (ctx) => {
  const { items, delay } = SlowPage.parse(ctx.query)
  const props = { items, delayMs: delay, requestId: ctx.state.requestId, nonce: allowScripts(ctx) }
  const closing = new AbortController()
  ctx.res.once('close', () => closing.abort())
  ctx.type = 'html'
  ctx.body = await streamDocument(props, closing.signal, (err) => ctx.log.error({ err }, 'failed'))
})
