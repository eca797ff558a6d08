import type { BunRequest, Server } from 'bun'
import type { AppOptions } from '#shared/app-options.ts'

/** What a handler returns. It is undefined after `server.upgrade()`. */
export type Result = Response | undefined

/** A handler of `Bun.serve`. As a method, it may name the parameters of its path and the data of its WebSockets. */
export type Handler = {
  handle(request: BunRequest<string>, server: Server<never>): Result | Promise<Result>
}['handle']

type Methods = { readonly [Method in Bun.Serve.HTTPMethod]?: Handler | Response }

/** Routes of `Bun.serve`, by path. */
export type Routes = Readonly<Record<string, Handler | Methods | Bun.Serve.BaseRouteValue>>

export type CreateRoutes = (options: AppOptions) => Routes

/** What happens around a handler. `route` is the path under which it is registered. */
export type Middleware = (next: Handler, route?: string) => Handler

/** Goes on with a response: at once if it is there. An `async` function would wait for the next microtask, once per middleware. */
export function after(
  response: ReturnType<Handler>,
  goOn: (response: Result) => Result,
): ReturnType<Handler> {
  return response instanceof Promise ? response.then(goOn) : goOn(response)
}

/** Puts middleware around a handler: the first is the outermost. */
export function wrap(handler: Handler, middleware: readonly Middleware[], route?: string): Handler {
  return middleware.reduceRight((next, around) => around(next, route), handler)
}

/** Puts middleware around all handlers and responses. HTML imports, files and directories stay as they are. */
export function wrapRoutes(routes: Routes, middleware: readonly Middleware[]) {
  const wrapped = mapValues(routes, (route, path) => {
    const wrapValue = (value: unknown) => {
      if (value instanceof Response) return wrap(() => value.clone() as Response, middleware, path)
      return typeof value === 'function' ? wrap(value as Handler, middleware, path) : value
    }
    const isByMethod = Object.getPrototypeOf(route) === Object.prototype
    return isByMethod ? mapValues(route as Methods, wrapValue) : wrapValue(route)
  })
  return wrapped as Bun.Serve.Routes<undefined, string>
}

function mapValues<In, Out>(object: Readonly<Record<string, In>>, map: (value: In, key: string) => Out) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]))
}
