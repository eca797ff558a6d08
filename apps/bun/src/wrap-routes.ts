import { StartError } from '#shared/process/config.ts'
import type { Handler, Plugin } from './plugin.ts'
import { sendProblem } from './plugins/errors.ts'

/** Any route that `Bun.serve` takes. It is declared as a method, so that a handler may name the parameters of its path. */
type RouteHandler = { handle(...args: Parameters<Handler>): ReturnType<Handler> }['handle']
type Value = RouteHandler | Response | Blob
export type Routes = Readonly<Record<string, Value | Readonly<Partial<Record<Bun.Serve.HTTPMethod, Value>>>>>

/**
 * Wraps all routes in the plugins. Each path becomes one function. Otherwise Bun would pass other methods to `fetch`, which cannot tell a
 * missing method from an unknown path.
 * @throws {StartError} naming a route that would bypass the plugins, such as an HTML import or a directory
 */
export function wrapRoutes(routes: Routes, plugins: Plugin): Record<string, Handler> {
  return Object.fromEntries(
    Object.entries(routes).map(([path, route]) => [path, plugins(toHandler(path, route), path)]),
  )
}

function toHandler(path: string, route: Routes[string]): Handler {
  if (typeof route === 'function') return route
  const byMethod = isValue(route) ? { GET: route } : { ...route }
  const handlers = new Map<string, Handler>()
  for (const [method, value] of Object.entries(byMethod)) {
    if (!isValue(value)) refuse(path)
    handlers.set(method, toMethodHandler(value))
  }
  if (handlers.size === 0) refuse(path)
  const get = handlers.get('GET')
  if (get !== undefined && !handlers.has('HEAD')) handlers.set('HEAD', toHead(get))
  const allow = [...handlers.keys()].join(', ')
  const refuseMethod: Handler = () => sendProblem(405, { headers: { allow } })
  return (request, server) => (handlers.get(request.method) ?? refuseMethod)(request, server)
}

function isValue(route: unknown): route is Value {
  return typeof route === 'function' || route instanceof Response || route instanceof Blob
}

function toMethodHandler(value: Value): Handler {
  if (value instanceof Response) return () => value.clone() as Response
  if (!(value instanceof Blob)) return value
  return async () => ((await isThere(value)) ? new Response(value) : sendProblem(404))
}

/** Bun adds the type of a body, such as text/plain for a string, only to responses to GET. This adds it to HEAD as well. */
function toHead(get: Handler): Handler {
  return async (request, server) => {
    const response = await get(request, server)
    if (response?.headers.has('content-type') === false) {
      const { type } = await response.clone().blob()
      if (type !== '') response.headers.set('content-type', type)
    }
    return response
  }
}

/** Bun responds to a route that is a missing file in the same way. */
async function isThere(blob: Blob): Promise<boolean> {
  return 'exists' in blob && typeof blob.exists === 'function' ? await blob.exists() : true
}

/** An HTML import and a directory (`{ dir: './public' }`) are objects without methods. */
function refuse(path: string): never {
  throw new StartError(
    `The route '${path}' is not a handler, a Response, a file or an object of those by method. Bun serves HTML imports and directories ` +
      'without security headers, id and log: route to single files, such as those of `bun build`.',
  )
}
