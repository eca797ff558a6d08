import type { AppOptions } from '#shared/process/lifecycle.ts'
import type { Plugin } from '../plugin.ts'

declare module 'bun' {
  interface Server<WebSocketData> {
    /** Its `signal` ends endless streams when the server stops. */
    health: AppOptions['health']
    /** For lines of routes. Add the id of the request: `idOf(request)`. */
    log: AppOptions['log']
  }
}

/** Adds `server.health` and `server.log`, because routes of Bun get nothing but the request and the server. */
export function decorateServer({ health, log }: Pick<AppOptions, 'health' | 'log'>): Plugin {
  return (next) => (request, server) => {
    if (server.health !== health) Object.assign(server, { health, log })
    return next(request, server)
  }
}
