import { pipeline } from 'node:stream/promises'
import { DELAY_MS, HTML, ITEMS, parseCount } from '#shared/http/contract.ts'
import { HttpProblem } from '#shared/http/problem.ts'
import { closeSignal, type Render } from '#shared/http/stream-node.ts'
import { logFailure } from '#shared/process/log.ts'
import { staticFiles } from './plugins/static-files.ts'
import { type Route, route } from './router.ts'

/** @param options.render a dev server can pass its own */
export const ssr = ({ render }: { render: Render }): Route[] => [
  staticFiles(render.assets),

  route('GET', '/', async (context) => {
    await context.shedLoad()
    const items = parseCount(context.query('items'), ITEMS)
    const { requestId } = context
    context.html(render.document({ items, requestId, nonce: context.allowScripts() }))
  }),

  route('GET', '/stream', async (context) => {
    await context.shedLoad()
    const items = parseCount(context.query('items'), ITEMS)
    const delayMs = parseCount(context.query('delay'), DELAY_MS)
    const { requestId, response } = context
    const signal = closeSignal(response)
    const props = { items, delayMs, requestId, nonce: context.allowScripts() }
    const html = await render.stream(props, signal, (error) => logFailure(context.log, requestId, error))
    await pipeline(html, response.writeHead(200, { 'content-type': HTML }))
  }),

  route('GET', '/partial/:locale/:slug', async (context) => {
    await context.shedLoad()
    const fragment = render.partial(context.params.locale, context.params.slug)
    if (fragment === undefined) throw new HttpProblem(404)
    context.allowScripts()
    context.html(fragment)
  }),
]
