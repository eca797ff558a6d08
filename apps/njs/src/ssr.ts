import { HTML, ITEMS, PRIVATE, parseCount } from '#shared/http/contract.ts'
import { pagePolicy } from '#shared/http/security-headers.ts'
import { renderPage } from '#shared/page/server.js'
import type { HandlerResponse, NginxRequest, Routes } from './handler.ts'
import { shedLoad } from './load-shedding.ts'

/** NGINX serves the files of the page. There is no `/stream`, because njs sends one buffer when the handler is done. */
export const ssr: Routes = {
  '/': { GET: page },
}

function page(request: NginxRequest): HandlerResponse {
  shedLoad(request)
  const items = parseCount(request.args.items, ITEMS)
  const nonce = createNonce()
  const headers = { 'content-security-policy': pagePolicy(nonce), 'cache-control': PRIVATE }
  const body = renderPage('shop', { items, requestId: request.variables.req_id ?? '', nonce })
  return { type: HTML, headers, body }
}

/** Like `#shared/http/ids.ts`, which needs node:crypto. njs has the Web Crypto API instead. */
function createNonce(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString('base64')
}
