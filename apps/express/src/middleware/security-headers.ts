import type { RequestHandler, Response } from 'express'
import { PRIVATE } from '#shared/http/contract.ts'
import { createNonce } from '#shared/http/ids.ts'
import { type PageSources, pagePolicy, SECURITY_HEADERS } from '#shared/http/security-headers.ts'

/**
 * Runs first, so that a route can replace a header. `protect` sends the same list with what it refuses. helmet costs the same, but would be a
 * second list, with eight headers turned off.
 */
export const securityHeaders: RequestHandler = (_request, response, next) => {
  response.set(SECURITY_HEADERS)
  next()
}

/** Allows this page its scripts: sets the policy of pages, keeps the page out of caches, and returns the nonce. */
export function allowScripts(response: Response, sources?: PageSources): string {
  const nonce = createNonce()
  response.set({ 'content-security-policy': pagePolicy(nonce, sources), 'cache-control': PRIVATE })
  return nonce
}
