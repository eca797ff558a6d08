import { createNonce } from '#shared/http/ids.ts'
import { type PageSources, PRIVATE, pagePolicy, SECURITY_HEADERS } from '#shared/http/security-headers.ts'

const HEADERS = Object.entries(SECURITY_HEADERS)

/** A header that a route sets itself is kept. */
export function setSecurityHeaders(headers: Headers): void {
  for (const [name, value] of HEADERS) if (!headers.has(name)) headers.set(name, value)
}

/** Allows a page its scripts: returns the nonce, and headers with the policy of pages. They also keep the page out of caches. */
export function allowScripts(sources?: PageSources) {
  const nonce = createNonce()
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': pagePolicy(nonce, sources),
    'cache-control': PRIVATE,
  }
  return { nonce, headers }
}
