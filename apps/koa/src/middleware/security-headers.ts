import type { Context } from 'koa'
import { createNonce } from '#shared/http/ids.ts'
import { type PageSources, PRIVATE, pagePolicy } from '#shared/http/security-headers.ts'

/** Allows this page its scripts: sets the policy of pages, keeps the page out of caches, and returns the nonce. */
export function allowScripts(ctx: Pick<Context, 'set'>, sources?: PageSources): string {
  const nonce = createNonce()
  ctx.set({ 'content-security-policy': pagePolicy(nonce, sources), 'cache-control': PRIVATE })
  return nonce
}
