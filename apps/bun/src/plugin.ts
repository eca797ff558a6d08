import type { BunRequest, Server } from 'bun'

type Result = Response | undefined

/** A handler of `Bun.serve`. It returns nothing after `server.upgrade()`. */
export type Handler = (request: BunRequest<string>, server: Server<undefined>) => Result | Promise<Result>

/**
 * Goes around a handler.
 * @param route as it was registered; absent for what no route has
 */
export type Plugin = (next: Handler, route?: string) => Handler

/** The plugins in the order in which a request meets them, as one. */
export function compose(...plugins: Plugin[]): Plugin {
  return (handler, route) => plugins.reduceRight((next, plugin) => plugin(next, route), handler)
}
