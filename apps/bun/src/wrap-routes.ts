import type { BunFile } from 'bun'
import { StartError } from '#shared/process/config.ts'
import type { Handler } from './handler.ts'
import { sendProblem } from './middleware/errors.ts'

/** Declared as a method, so that a handler may name the parameters of its path and the data of its WebSockets. */
type RouteHandler = { handle(...args: Parameters<Handler>): ReturnType<Handler> }['handle']
type Value = RouteHandler | Response | BunFile
type Methods = Readonly<Partial<Record<Bun.Serve.HTTPMethod, Value>>>

/** Routes of `Bun.serve`. Beside its methods, a path may have the limit of its request bodies, in bytes; by default 64 KiB. */
export type Routes = Readonly<Record<string, Value | (Methods & { readonly maxRequestBodySize?: number })>>

type Wrap = (handler: Handler, route: string, maxRequestBodySize?: number) => Handler

/**
 * Wraps the handler of every route. What Bun would serve by itself, such as a `Response`, becomes a handler.
 * @throws {StartError} naming a route that would not be wrapped, such as an HTML import or a directory
 */
export function wrapRoutes(routes: Routes, wrap: Wrap) {
  return mapValues(routes, (route, path) => {
    if (isValue(route))
      return typeof route === 'function' ? wrap(route, path) : { GET: wrap(toHandler(route), path) }
    const { maxRequestBodySize, ...methods } = route ?? {}
    if (Object.keys(methods).length === 0) refuse(path)
    return mapValues(methods, (value) =>
      isValue(value) ? wrap(toHandler(value), path, maxRequestBodySize) : refuse(path),
    )
  })
}

function mapValues<In, Out>(object: Readonly<Record<string, In>>, map: (value: In, key: string) => Out) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]))
}

function isValue(route: unknown): route is Value {
  return typeof route === 'function' || route instanceof Response || route instanceof Blob
}

function toHandler(value: Value): Handler {
  if (value instanceof Response) return () => value.clone() as Response
  if (typeof value === 'function') return value
  // Bun responds to a route that is a missing file in the same way.
  return async () => ((await value.exists()) ? new Response(value) : sendProblem(404))
}

/** An HTML import and a directory (`{ dir: './public' }`) are objects without methods. */
function refuse(path: string): never {
  throw new StartError(
    `The route '${path}' is not a handler, a Response, a file or an object of those by method. Bun serves HTML imports and directories ` +
      'without security headers, id and log: route to single files, such as those of `bun build`.',
  )
}
