import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { StatusCode } from 'hono/utils/http-status'
import { PRIVATE } from '#shared/http/contract.ts'
import { createNonce } from '#shared/http/ids.ts'
import { pagePolicy, SECURITY_HEADERS } from '#shared/http/security-headers.ts'
import type { Runtime } from './access-log.ts'

const HEADERS = Object.entries(SECURITY_HEADERS)

/** Runs first, so that a route can replace a header. Hono's `secureHeaders()` fails on a fetched Response, which is immutable. */
export function securityHeaders({ addHeaders }: Runtime) {
  if (addHeaders === undefined) return withHeader
  return createMiddleware((c, next) => {
    addHeaders(c)
    return next()
  })
}

const withHeader = createMiddleware(async (c, next) => {
  for (const [name, value] of HEADERS) c.header(name, value)
  await next()
  const id = c.get('requestId')
  const { headers } = c.res
  if (headers.get('x-request-id') === id && HEADERS.every(([name]) => headers.has(name))) return
  // The route created or fetched this Response. The new one gets the headers of `c.header()`, and then those of the route.
  const { body, status } = c.res
  c.res = undefined
  c.res = c.newResponse(body, { status: status as StatusCode, headers })
  c.res.headers.set('x-request-id', id)
})

/** Allows this page its scripts: sets the policy of pages, keeps the page out of caches, and returns the nonce. */
export function allowScripts(c: Context): string {
  const nonce = createNonce()
  c.header('content-security-policy', pagePolicy(nonce))
  c.header('cache-control', PRIVATE)
  return nonce
}
