import { defineMiddleware, HTTPError } from 'h3'
import { readForwarded, setOrigin } from '#shared/forwarded.ts'

/** srvx trusts all proxies or a list of addresses, and TRUST_PROXY may have networks. `getRequestIP(event)` reads `clientAddress`. */
export const takeOrigin = defineMiddleware(({ context, req, runtime, url }) => {
  const peer = { headers: Object.fromEntries(req.headers), socket: { remoteAddress: req.ip } }
  const forwarded = readForwarded(runtime?.node?.req ?? peer, context.config.TRUST_PROXY)
  if (!URL.canParse(url.href)) throw new HTTPError({ status: 400 }) // of its Host
  Object.assign(context, { clientAddress: forwarded.client })
  Object.defineProperty(req, 'url', { value: setOrigin(url, forwarded).href })
})
