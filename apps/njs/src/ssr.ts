import { HTML, ITEMS, PRIVATE, parseCount } from '#shared/http/contract.ts'
import { HttpProblem } from '#shared/http/problem.ts'
import { pagePolicy } from '#shared/http/security-headers.ts'
import { renderDocument, renderPartial } from '#shared/page/server.js'
import type { HandlerResponse, NginxRequest, Parameters, Routes } from './handler.ts'
import { shedLoad } from './load-shedding.ts'

/** NGINX serves the files of the page. There is no `/stream`, because njs sends one buffer when the handler is done. */
export const ssr: Routes = {
  '/': { GET: page },
  '/partial/:locale/:slug': { GET: partial },
}

function page(request: NginxRequest): HandlerResponse {
  shedLoad(request)
  const items = parseCount(request.args.items, ITEMS)
  const nonce = createNonce()
  return html(renderDocument({ items, requestId: request.variables.req_id ?? '', nonce }), nonce)
}

function partial(request: NginxRequest, { locale = '', slug = '' }: Parameters): HandlerResponse {
  shedLoad(request)
  const fragment = renderPartial(locale, slug)
  if (fragment === undefined) throw new HttpProblem(404)
  return html(fragment, createNonce())
}

function html(body: string, nonce: string): HandlerResponse {
  const headers = { 'content-security-policy': pagePolicy(nonce), 'cache-control': PRIVATE }
  return { type: HTML, headers, body }
}

/** Like `#shared/http/ids.ts`, which needs node:crypto. njs has the Web Crypto API instead. */
function createNonce(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString('base64')
}
