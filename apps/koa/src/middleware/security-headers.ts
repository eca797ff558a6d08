import type { Context, Middleware } from 'koa'
import { createNonce } from '#shared/http/ids.ts'
import { type PageSources, PRIVATE, pagePolicy, SECURITY_HEADERS } from '#shared/http/security-headers.ts'

/**
 * Runs first, so that a route can replace a header. `protect` sends the same list with what it refuses. koa-helmet costs the same, but would be a
 * second list, with eight headers turned off.
 */
export const securityHeaders: Middleware = (ctx, next) => {
  ctx.set(SECURITY_HEADERS)
  return next()
}

/** Allows this page its scripts: sets the policy of pages, keeps the page out of caches, and returns the nonce. */
export function allowScripts(ctx: Pick<Context, 'set'>, sources?: PageSources): string {
  const nonce = createNonce()
  ctx.set({ 'content-security-policy': pagePolicy(nonce, sources), 'cache-control': PRIVATE })
  return nonce
}
