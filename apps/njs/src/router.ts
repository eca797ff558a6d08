import { HttpProblem } from '#shared/http/http-problem.ts'
import type { Handler, HandlerResponse, NginxRequest, Parameters, Routes } from './handler.ts'

interface Entry {
  path: string
  segments: readonly string[]
  handlers: Readonly<Record<string, Handler | undefined>>
}

/**
 * Finds the handler by the raw target. `r.uri` is decoded, so a `%2F` in it would look like a slash.
 * @returns a handler that throws an `HttpProblem`: 404 for an unknown path, 405 with `allow` for an unknown method
 */
export function createRouter(
  routes: Routes,
): (request: NginxRequest) => HandlerResponse | Promise<HandlerResponse> {
  // Without a prototype, so that a path cannot name an inherited member.
  const plain: Record<string, Entry> = Object.create(null)
  const patterns: Entry[] = []
  for (const path in routes) {
    const entry = {
      path,
      segments: path.split('/'),
      handlers: Object.assign(Object.create(null), routes[path]),
    }
    if (path.includes(':')) patterns.push(entry)
    else plain[path] = entry
  }

  return (request) => {
    const target = request.variables.request_uri ?? ''
    const query = target.indexOf('?')
    const path = query === -1 ? target : target.slice(0, query)
    const exact = plain[path]
    if (exact !== undefined) return call(exact, request, {})
    const parts = path.split('/')
    for (const entry of patterns) {
      const parameters = match(entry.segments, parts)
      if (parameters !== undefined) return call(entry, request, parameters)
    }
    throw new HttpProblem(404)
  }
}

function call({ path, handlers }: Entry, request: NginxRequest, parameters: Parameters) {
  const handler = handlers[request.method === 'HEAD' ? 'GET' : request.method]
  if (handler === undefined)
    throw new HttpProblem(405, { headers: { allow: listMethods(Object.keys(handlers)) } })
  request.variables.route = path
  return handler(request, parameters)
}

function listMethods(methods: readonly string[]): string {
  return methods.map((method) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ')
}

/** The decoded parameters, if each segment is equal or is a non-empty parameter. */
function match(segments: readonly string[], parts: readonly string[]): Parameters | undefined {
  if (parts.length !== segments.length) return undefined
  const parameters: Record<string, string> = {}
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] ?? ''
    const segment = segments[index] ?? ''
    if (segment.startsWith(':') && part !== '') parameters[segment.slice(1)] = decode(part)
    else if (segment !== part) return undefined
  }
  return parameters
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (cause) {
    // njs passes on bytes that are not UTF-8, and `decodeURIComponent` throws for them.
    throw new HttpProblem(400, { cause })
  }
}
