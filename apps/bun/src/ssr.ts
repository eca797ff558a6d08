import { z } from 'zod'
import { streamPage } from '#shared/page/stream-web.ts'
import { ASSETS_DIR, renderPage } from '#shared/page/server.js'
import { recommendSlowly } from '#shared/page/shop/back-end.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { loadShedding } from './middleware/load-shedding.ts'
import { idOf } from './middleware/request-id.ts'
import { allowScripts } from './middleware/security-headers.ts'
import { staticFiles } from './middleware/static-files.ts'
import type { Routes } from './wrap-routes.ts'

const Count = z.string().regex(/^\d+$/, 'must be a number').transform(Number)
const Items = Count.pipe(z.number().max(1000)).default(50)
const Delay = Count.pipe(z.number().max(5000)).default(50) // milliseconds
const Page = z.object({ items: Items })
const SlowPage = z.object({ items: Items, delay: Delay })

export function ssr({ config, log }: Pick<AppOptions, 'config' | 'log'>): Routes {
  const shedLoad = loadShedding(config.maxQueueWaitMs)

  return {
    '/assets/:file': { GET: staticFiles(ASSETS_DIR) },

    '/': {
      GET: shedLoad((request) => {
        const { items } = Page.parse(readQuery(request))
        const { nonce, headers } = allowScripts()
        return new Response(renderPage('shop', { items, requestId: idOf(request), nonce }), { headers })
      }),
    },

    '/stream': {
      GET: shedLoad(async (request) => {
        const { items, delay } = SlowPage.parse(readQuery(request))
        const requestId = idOf(request)
        const { nonce, headers } = allowScripts()
        const pending = recommendSlowly(items, delay, request.signal)
        const props = { items, requestId, pending, nonce }
        const stream = await streamPage('shop', props, request.signal, (err) => {
          // Bun cancels the body of a response to HEAD.
          if (request.method !== 'HEAD') log.error({ requestId, err }, 'failed')
        })
        return new Response(stream, { headers })
      }),
    },
  }
}

/** Reads the query. A parameter that is given twice becomes an array. */
function readQuery({ url }: Request): object {
  return new URL(url, 'http://localhost').searchParams.toJSON()
}
