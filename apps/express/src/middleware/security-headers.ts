import type { RequestHandler, Response } from 'express'
import { PRIVATE } from '#shared/http/contract.ts'
import { createNonce } from '#shared/http/ids.ts'
import { pagePolicy, SECURITY_HEADERS } from '#shared/http/security-headers.ts'

const HEADERS = new Map(Object.entries(SECURITY_HEADERS))

/**
 * Runs first, so that a route can replace a header. helmet sets the same five once eight others are turned off, but takes 2 µs more, and
 * what `protect` refuses would still need this list.
 */
export const securityHeaders: RequestHandler = (_request, response, next) => {
  response.setHeaders(HEADERS)
  next()
}

/** Allows this page its scripts: sets the policy of pages, keeps the page out of caches, and returns the nonce. */
export function allowScripts(response: Response): string {
  const nonce = createNonce()
  response.set({ 'content-security-policy': pagePolicy(nonce), 'cache-control': PRIVATE })
  return nonce
}
