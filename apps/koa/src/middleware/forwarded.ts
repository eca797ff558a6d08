import type { Middleware } from 'koa'
import proxyaddr from 'proxy-addr'
import { dropPorts } from '#shared/forwarded.ts'

const NAMES = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto']

/** With `app.proxy`, Koa believes every peer, and takes the leftmost address. This leaves it only what trusted proxies sent. */
export function trustProxies(trusts: (address: string | undefined, hop: number) => boolean): Middleware {
  return (ctx, next) => {
    const { headers, socket } = ctx.req
    dropPorts(ctx.req)
    if (!trusts(socket.remoteAddress, 0)) for (const name of NAMES) delete headers[name]
    else if (headers['x-forwarded-for']) headers['x-forwarded-for'] = proxyaddr(ctx.req, trusts)
    return next()
  }
}
