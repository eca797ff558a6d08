import type { BunRequest, Server } from 'bun'

type Result = Response | undefined

/** A handler of `Bun.serve`. It returns nothing after `server.upgrade()`. */
export type Handler = (request: BunRequest<string>, server: Server<undefined>) => Result | Promise<Result>

/**
 * Wraps a handler.
 * @param route the path of the route; absent if no route matches
 */
export type Plugin = (next: Handler, route?: string) => Handler

/** Combines plugins into one. A request meets them in this order. */
export function compose(...plugins: Plugin[]): Plugin {
  return (handler, route) => plugins.reduceRight((next, plugin) => plugin(next, route), handler)
}
