import type { Middleware } from 'koa'
import proxyaddr from 'proxy-addr'
import type { Config } from '#shared/process/config.ts'

const NAMES = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto']

/**
 * Runs first. With `app.proxy`, Koa believes every peer and takes the leftmost address of X-Forwarded-For. This leaves it only what
 * trusted proxies sent, so that `ctx.ip`, `ctx.protocol`, `ctx.host` and all that Koa derives from them are right.
 */
export function leaveTrusted(trusts: Exclude<Config['trustProxy'], false>): Middleware {
  return (ctx, next) => {
    const { headers, socket } = ctx.req
    if (!trusts(socket.remoteAddress, 0)) for (const name of NAMES) delete headers[name]
    else if (headers['x-forwarded-for']) {
      const [, ...forwarded] = proxyaddr.all(ctx.req, trusts)
      headers['x-forwarded-for'] = forwarded.reverse().join(', ')
    }
    return next()
  }
}
