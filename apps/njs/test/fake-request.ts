import type { App, NginxRequest } from '../src/base.ts'

/** What a script told NGINX to answer. */
export interface Told {
  status: number
  headers: Record<string, string | undefined>
  body: string | undefined
  errors: string[]
}

interface Given {
  method?: string
  hosts?: number
  draining?: boolean
  /** What `return` throws instead of answering. */
  failure?: Error
}

/** Calls an app as NGINX would, with a request target as it was sent. */
export function ask(
  app: App,
  target: string,
  { method = 'GET', hosts = 1, draining = false, failure }: Given = {},
): Told {
  const told: Told = { status: 0, headers: {}, body: undefined, errors: [] }
  const request: NginxRequest = {
    method,
    args: readArguments(target),
    rawHeadersIn: Array.from({ length: hosts }, () => ['Host', 'localhost'] as const),
    headersOut: told.headers,
    variables: { request_uri: target, req_id: 'r-1', draining: draining ? '1' : '0' },
    return: (status, body) => {
      if (failure) throw failure
      Object.assign(told, { status, body })
    },
    error: (message) => told.errors.push(message),
  }
  app.answer(request)
  return told
}

/** As njs does: an array where a name was repeated. */
function readArguments(target: string): NginxRequest['args'] {
  const query = new URLSearchParams(target.split('?')[1] ?? '')
  const values = [...query.keys()].map((name) => [name, query.getAll(name)] as const)
  return Object.fromEntries(values.map(([name, all]) => [name, all.length === 1 ? all[0] : all]))
}
