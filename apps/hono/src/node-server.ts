import type { IncomingMessage, Server } from 'node:http'
import { isIP } from 'node:net'
import { createAdaptorServer, type HttpBindings } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import type { Env, Hono, Schema } from 'hono'
import { type Forwarded, readForwarded } from '#shared/http/forwarded.ts'
import { protect, SERVER_OPTIONS } from '#shared/http/protect.ts'
import { SecureResponse } from '#shared/http/secure-response.ts'
import type { Config } from '#shared/process/config.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { createApp } from './app.ts'

type AdapterOptions = Parameters<typeof createAdaptorServer>[0]

/**
 * The app as a server that does not listen yet.
 * @param adapter for routes with `upgradeWebSocket`: `{ websocket: { server: new WebSocketServer({ noServer: true }) } }`, of `ws`
 */
export function createNodeServer<RouteEnv extends Env, RouteSchema extends Schema>(
  options: AppOptions,
  routes: Hono<RouteEnv, RouteSchema>,
  // Not node-server's own type: under `exactOptionalPropertyTypes` it refuses the server of `@types/ws`.
  adapter: { websocket?: { server: object } } = {},
): Server {
  const { host: hostname, trustProxy } = options.config
  const { fetch } = createApp({ ...options, getConnInfo }, routes)
  // The host name replaces a missing Host header, which HTTP/1.0 allows.
  const serve = (handle: AdapterOptions['fetch']) =>
    createAdaptorServer({
      ...adapter,
      hostname,
      fetch: handle,
      serverOptions: { ...SERVER_OPTIONS, ServerResponse: SecureResponse },
    } as AdapterOptions) as Server
  if (!trustProxy) return protect(serve(fetch), options)

  const readOnce = createReader(trustProxy)
  const server = serve((request, env) =>
    fetch(request, withClient(env as HttpBindings, readOnce(env.incoming as IncomingMessage))),
  )
  server.prependListener('request', (incoming) => takeOrigin(incoming, readOnce(incoming)))
  return protect(server, options)
}

function createReader(trusts: Config['trustProxy']): (incoming: IncomingMessage) => Forwarded {
  const known = new WeakMap<IncomingMessage, Forwarded>()
  return (incoming) => {
    const { socket, headers } = incoming
    const forwarded =
      known.get(incoming) ?? readForwarded(socket.remoteAddress, (name) => headers[name], trusts)
    known.set(incoming, forwarded)
    return forwarded
  }
}

/** Makes the target absolute if the client used another scheme or host. The adapter makes `c.req.url` of that. */
function takeOrigin(incoming: IncomingMessage, { protocol, host }: Forwarded): void {
  if (host === '' || (protocol === 'http' && host === incoming.headers.host)) return
  incoming.url = `${protocol}://${host}${incoming.url}`
}

/** Lets `getConnInfo(c)` return the client. It prefers `c.env.server` to `c.env`. */
function withClient(env: HttpBindings, { client }: Forwarded): HttpBindings {
  if (client === env.incoming.socket.remoteAddress) return env
  const socket = { remoteAddress: client, remoteFamily: `IPv${isIP(client ?? '')}` }
  return Object.assign(env, { server: { incoming: { socket } } })
}
