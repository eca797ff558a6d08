import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { PRIVATE } from '#shared/http/contract.ts'
import { createNonce } from '#shared/http/ids.ts'
import { pagePolicy, SECURITY_HEADERS } from '#shared/http/security-headers.ts'

const HEADERS = Object.entries(SECURITY_HEADERS)

/** Set first, so that a route can replace a header. Hono's `secureHeaders()` fails on a fetched Response, which is immutable. */
export const securityHeaders = createMiddleware(async (c, next) => {
  for (const [name, value] of HEADERS) c.header(name, value)
  await next()
  // A Response that the route made or fetched itself does not have them yet. `c.header()` makes a mutable copy of it.
  for (const [name, value] of HEADERS) if (!c.res.headers.has(name)) c.header(name, value)
})

/** Allows this page its scripts: sets the policy of pages, keeps the page out of caches, and returns the nonce. */
export function allowScripts(c: Context): string {
  const nonce = createNonce()
  c.header('content-security-policy', pagePolicy(nonce))
  c.header('cache-control', PRIVATE)
  return nonce
}
