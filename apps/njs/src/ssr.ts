import './polyfill.ts'
import { renderPage } from '#shared/page/server.js'
import { pageHeaders, SECURITY_HEADERS } from '#shared/security.ts'
import { type Request, send, sendProblem } from './request.ts'

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
  const html = renderPage('shop', { items: Number(items), requestId, nonce }) as string
  const type = { 'content-type': 'text/html; charset=utf-8' }
  Object.assign(r.headersOut, SECURITY_HEADERS, pageHeaders(nonce), type)
  send(r, 200, html)
}

/**
 * Whether a page has waited for longer than MAX_QUEUE_WAIT_MS. NGINX runs a handler to its end, and reads its clock ($msec, in seconds) at the
 * start of each turn of its event loop. All requests of a turn had arrived by then, so the age of the turn is their wait.
 */
function waitsTooLong({ variables }: Request): boolean {
  const limit = Number(variables.max_queue_wait_ms)
  return limit > 0 && Date.now() - Number(variables.msec) * 1000 > limit
}
