import { ITEMS, parseCount } from '#shared/http/count.ts'
import { renderPage } from '#shared/page/server.js'
import type { HandlerResponse, NginxRequest, Routes } from './handler.ts'
import { shedLoad } from './load-shedding.ts'
import { allowScripts } from './security-headers.ts'

/** NGINX serves the files of the page. There is no `/stream`: React streams into a stream of Node or of the web, and njs has neither. */
export const ssr: Routes = {
  '/': { GET: page },
}

function page(request: NginxRequest): HandlerResponse {
  shedLoad(request)
  const items = parseCount(request.args.items, ITEMS)
  const { nonce, headers } = allowScripts()
  const body = renderPage('shop', { items, requestId: request.variables.req_id ?? '', nonce })
  return { type: 'text/html; charset=utf-8', headers, body }
}
