import type { ServerResponse } from 'node:http'
import { createNonce } from '#shared/http/ids.ts'
import { type PageSources, PRIVATE, pagePolicy } from '#shared/http/security-headers.ts'

/** Sets the policy of a page, and keeps the page out of caches. @returns the nonce of the page */
export function allowScripts(response: ServerResponse, sources?: PageSources): string {
  const nonce = createNonce()
  response
    .setHeader('content-security-policy', pagePolicy(nonce, sources))
    .setHeader('cache-control', PRIVATE)
  return nonce
}
