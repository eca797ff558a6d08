import type { Context, Middleware } from 'koa'
import { PRIVATE } from '#shared/http/contract.ts'
import { createNonce } from '#shared/http/ids.ts'
import { pagePolicy, SECURITY_HEADERS } from '#shared/http/security-headers.ts'

const HEADERS = new Map(Object.entries(SECURITY_HEADERS))

/**
 * Runs first, so that a route can replace a header. koa-helmet sets the same five once eight others are turned off, but takes 2 µs more, and
 * what `protect` refuses would still need this list.
 */
export const securityHeaders: Middleware = (ctx, next) => {
  ctx.res.setHeaders(HEADERS)
  return next()
}

/** Allows this page its scripts: sets the policy of pages, keeps the page out of caches, and returns the nonce. */
export function allowScripts(ctx: Pick<Context, 'set'>): string {
  const nonce = createNonce()
  ctx.set({ 'content-security-policy': pagePolicy(nonce), 'cache-control': PRIVATE })
  return nonce
}
