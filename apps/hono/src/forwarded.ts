import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { type Forwarded, readForwarded, setOrigin } from '#shared/forwarded.ts'

/** What `server.ts` passes on: Node's request and response, or on another runtime the address of the peer. */
export interface Env {
  Bindings: Partial<HttpBindings> & { address?: string | undefined }
}

/** The address of the client, also behind a trusted proxy. Hono's `getConnInfo(c)` has the proxy's. */
export const clientOf = (c: Context): string | undefined => forwardedOf(c).client

/** Hono has no setting for proxies, and https://hono.dev/examples/behind-reverse-proxy believes any peer. */
export const takeOrigin = createMiddleware<Env>((c, next) => {
  const { href: value } = setOrigin(new URL(c.req.url), forwardedOf(c))
  // Without a body, because another Request takes 26 µs on Node. With one, `bodyLimit()` makes another of it in any case.
  if (['GET', 'HEAD'].includes(c.req.method)) Object.defineProperty(c.req.raw, 'url', { value })
  else c.req.raw = new Request(value, c.req.raw)
  return next()
})

function forwardedOf(c: Context): Forwarded {
  const { incoming, address }: Env['Bindings'] = c.env
  const { TRUST_PROXY } = c.get('config')
  const headers = TRUST_PROXY && incoming === undefined ? c.req.header() : {}
  return readForwarded(incoming ?? { headers, socket: { remoteAddress: address } }, TRUST_PROXY)
}
