import { randomBytes } from 'node:crypto'

/** The security headers of every response. A route may replace them. HSTS is the task of who terminates TLS. */
export const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

const HEADERS = Object.entries(SECURITY_HEADERS)

/**
 * Gives a `Response` the id, and the security headers that it does not have itself.
 * @returns a copy of one whose headers cannot be changed, because `fetch()` or `Response.redirect()` made them
 */
export function secureResponse(response: Response, requestId: string): Response {
  try {
    response.headers.set('x-request-id', requestId)
  } catch {
    return secureResponse(new Response(response.body, response), requestId)
  }
  for (const [name, value] of HEADERS) if (!response.headers.has(name)) response.headers.set(name, value)
  return response
}

/** Of `script-src` and of the scripts of one page: https://developer.mozilla.org/docs/Web/HTTP/Guides/CSP#nonces */
export function createNonce(): string {
  return randomBytes(18).toString('base64')
}

/** What a page may load besides its scripts. In development, Vite needs more. */
export const PAGE_SOURCES = {
  'style-src': "'self'",
  'img-src': "'self' data:",
  'font-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'self'",
  'frame-ancestors': "'none'",
}

/** The headers of an HTML page with scripts. No cache may give its nonce to another client. */
export function pageHeaders(nonce: string) {
  const sources = Object.entries(PAGE_SOURCES).map((source) => source.join(' '))
  const policy = ["default-src 'none'", `script-src 'nonce-${nonce}' 'strict-dynamic'`, ...sources]
  return { 'content-security-policy': policy.join('; '), 'cache-control': 'private, no-store' }
}
