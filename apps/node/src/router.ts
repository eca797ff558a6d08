import createError from 'http-errors'
import type { Context } from './context.ts'

export type Handler<Name extends string = string> = (context: Context<Name>) => void | Promise<void>

export interface Route {
  method: string
  path: string
  pattern: RegExp
  handle: Handler
}

/** The names of the parameters in `/hello/:name`. */
type Names<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/**
 * One route. A `GET` route also serves HEAD: then Node omits the body.
 * @param path exact and case-sensitive; `:name` matches one non-empty segment, and `/*` at the end whatever follows
 */
export function route<const Path extends string>(
  method: string,
  path: Path,
  handle: Handler<Names<Path>>,
): Route {
  const source = path
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(/:(\w+)/g, '(?<$1>[^/]+)')
    .replace(/\/\\\*$/, '/.+')
  return { method, path, pattern: new RegExp(`^${source}$`), handle: handle as Handler }
}

/** @returns a handler that calls the first route that matches, or throws 404 */
export function createRouter(routes: readonly Route[]): Handler {
  return (context) => {
    const method = context.request.method === 'HEAD' ? 'GET' : context.request.method
    for (const one of routes) {
      const match = one.method === method && one.pattern.exec(context.path)
      if (!match) continue
      context.route = one.path
      for (const [name, value] of Object.entries(match.groups ?? {})) context.params[name] = decode(value)
      return one.handle(context)
    }
    throw createError(404)
  }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw createError(400)
  }
}
