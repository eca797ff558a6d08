import './polyfill.ts'
import { renderPage } from '#shared/page/server.js'
import { pageHeaders, SECURITY_HEADERS } from '#shared/security.ts'
import { waitsTooLong } from './load-shedding.ts'
import type { Request } from './request.ts'
import { send, sendProblem } from './send.ts'

export default { page }

function page(r: Request): void {
  if (waitsTooLong(r)) {
    r.headersOut['retry-after'] = '1'
    r.return(503)
    return
  }
  const { items = '50' } = r.args
  if (typeof items !== 'string' || !/^\d{1,4}$/.test(items) || Number(items) > 1000) {
    Object.assign(r.headersOut, SECURITY_HEADERS)
    sendProblem(r, 400, 'Bad Request', {
      errors: [{ field: 'items', reason: 'must be a number from 0 to 1000' }],
    })
    return
  }
  const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString('base64')
  const requestId = r.variables.req_id ?? ''
  const html = renderPage('shop', { items: Number(items), requestId, nonce })
  const type = { 'content-type': 'text/html; charset=utf-8' }
  Object.assign(r.headersOut, SECURITY_HEADERS, pageHeaders(nonce), type)
  send(r, 200, html)
}
