import '../src/polyfill.ts'
import { renderPage } from '#shared/page/server.js'
import { pageHeaders, SECURITY_HEADERS } from '#shared/security.ts'
import { type Request, send } from '../src/request.ts'

export default { about }

// A page is a folder beside `shop`, and a line in `pages.ts`: see the README there. Until then, this one shows the shop.
function about(r: Request): void {
  const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString('base64')
  const html = renderPage('shop', { items: 3, requestId: r.variables.req_id ?? '', nonce }) as string
  Object.assign(r.headersOut, SECURITY_HEADERS, pageHeaders(nonce))
  send(r, 200, html)
}
