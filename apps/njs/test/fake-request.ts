import { createApp } from '../src/app.ts'
import type { NginxRequest, Routes } from '../src/handler.ts'

/** What a script told NGINX to send. */
export interface Told {
  /** As the log has it. */
  route: string | undefined
  status: number
  headers: Record<string, string | undefined>
  body: string | undefined
  errors: string[]
}

interface Given {
  method?: string
  draining?: boolean
  /** A JSON body, or text with another type. */
  body?: string
  type?: string
  /** What `return` throws instead of sending. */
  failure?: Error
}

/** Calls an app as NGINX would, with a request target as it was sent. */
export async function send(
  routes: Routes,
  target: string,
  { method = 'GET', draining = false, body, type = 'application/json', failure }: Given = {},
): Promise<Told> {
  const told: Told = { status: 0, route: undefined, headers: {}, body: undefined, errors: [] }
  const variables: NginxRequest['variables'] = {
    request_uri: target,
    req_id: 'r-1',
    draining: draining ? '1' : '0',
    max_queue_wait_ms: '0',
  }
  const request: NginxRequest = {
    method,
    remoteAddress: '127.0.0.1',
    args: readArguments(target),
    headersOut: told.headers,
    headersIn: { 'content-type': body === undefined ? undefined : type },
    requestText: body,
    variables,
    return: (status, text) => {
      if (failure) throw failure
      Object.assign(told, { status, body: text })
    },
    error: (message) => told.errors.push(message),
  }
  await createApp(routes).respond(request)
  return { ...told, route: variables.route }
}

/** As njs does: an array where a name was repeated. */
function readArguments(target: string): NginxRequest['args'] {
  const query = new URLSearchParams(target.split('?')[1] ?? '')
  const values = [...query.keys()].map((name) => [name, query.getAll(name)] as const)
  return Object.fromEntries(values.map(([name, all]) => [name, all.length === 1 ? all[0] : all]))
}
