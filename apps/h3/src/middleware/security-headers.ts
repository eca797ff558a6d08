import type { H3Event } from 'h3'
import { createNonce } from '#shared/http/ids.ts'
import { type PageSources, PRIVATE, pagePolicy } from '#shared/http/security-headers.ts'

/**
 * Allows this page its scripts: sets the policy of pages, keeps the page out of caches, and returns the nonce. All other security headers are
 * those of `SecureResponse`: an `onResponse` of h3 would have to copy each response that was fetched, whose headers are immutable.
 */
export function allowScripts(event: H3Event, sources?: PageSources): string {
  const nonce = createNonce()
  event.res.headers.set('content-security-policy', pagePolicy(nonce, sources))
  event.res.headers.set('cache-control', PRIVATE)
  return nonce
}
