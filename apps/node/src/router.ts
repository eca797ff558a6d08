import { HttpProblem } from '#shared/http/http-problem.ts'
import type { Context } from './context.ts'

export type Handler<Name extends string = string> = (context: Context<Name>) => void | Promise<void>

export interface Route {
  method: string
  path: string
  handle: Handler
}

/** The names of the parameters in `/hello/:name`. */
type Names<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/**
 * One route. A `GET` route also serves HEAD.
 * @param path exact and case-sensitive; `:name` matches one non-empty segment
 */
export function route<const Path extends string>(
  method: string,
  path: Path,
  handle: Handler<Names<Path>>,
): Route {
  return { method, path, handle: handle as Handler }
}

type Handlers = Map<string, Route>

/**
 * Looks up plain paths in a map, then tries the patterns in order.
 * @returns a handler that throws an `HttpProblem`: 404 for an unknown path, 405 with `allow` for an unknown method
 */
export function createRouter(routes: readonly Route[]): (context: Context) => void | Promise<void> {
  const plain = new Map<string, Handlers>()
  const patterns = new Map<string, { pattern: RegExp; handlers: Handlers }>()
  for (const one of routes) findOrAdd(one.path).set(one.method, one)

  function findOrAdd(path: string): Handlers {
    const known = plain.get(path) ?? patterns.get(path)?.handlers
    if (known !== undefined) return known
    const handlers: Handlers = new Map()
    if (path.includes(':')) patterns.set(path, { pattern: toRegExp(path), handlers })
    else plain.set(path, handlers)
    return handlers
  }

  function find(context: Context): Handlers {
    const { path } = context
    const exact = plain.get(path)
    if (exact !== undefined) return exact
    for (const { pattern, handlers } of patterns.values()) {
      const groups = pattern.exec(path)?.groups
      if (groups === undefined) continue
      for (const [name, value] of Object.entries(groups)) context.params[name] = decode(value)
      return handlers
    }
    throw new HttpProblem(404)
  }

  return (context) => {
    const { method = 'GET' } = context.request
    const handlers = find(context)
    // Node omits the body of a response to HEAD.
    const found = handlers.get(method === 'HEAD' ? 'GET' : method)
    if (found === undefined) throw new HttpProblem(405, { headers: { allow: listMethods(handlers) } })
    context.route = found.path
    return found.handle(context)
  }
}

function toRegExp(path: string): RegExp {
  const source = path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:(\w+)/g, '(?<$1>[^/]+)')
  return new RegExp(`^${source}$`)
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (cause) {
    throw new HttpProblem(400, { cause })
  }
}

function listMethods(handlers: Handlers): string {
  return [...handlers.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
}
