import type { Express, Response } from 'express'
import { createNonce } from '#shared/http/ids.ts'
import { SecureResponse } from '#shared/http/secure-response.ts'
import { type PageSources, PRIVATE, pagePolicy } from '#shared/http/security-headers.ts'

/**
 * Adds the security headers and the id of the request to every response when its head is written. A header that a route sets stays, except
 * for the id: https://expressjs.com/en/guide/overriding-express-api.html. `protect` sends the same list with what it refuses; helmet would be
 * a second one, with eight headers turned off.
 */
export function securityHeaders(app: Express): void {
  app.response.writeHead = SecureResponse.prototype.writeHead as Response['writeHead']
}

/** Allows this page its scripts: sets the policy of pages, keeps the page out of caches, and returns the nonce. */
export function allowScripts(response: Response, sources?: PageSources): string {
  const nonce = createNonce()
  response.set({ 'content-security-policy': pagePolicy(nonce, sources), 'cache-control': PRIVATE })
  return nonce
}
