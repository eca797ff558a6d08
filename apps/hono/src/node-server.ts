import type { Server } from 'node:http'
import { createAdaptorServer, type HttpBindings } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import type { Context, Env, Hono, Schema } from 'hono'
import { addDefaultHeaders } from '#shared/http/default-headers.ts'
import { protect } from '#shared/http/protect.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { createApp } from './app.ts'
import type { Runtime } from './middleware/access-log.ts'

/** Reads connections on Node. On another runtime, pass the `getConnInfo` of that runtime's adapter to `createApp`. */
const runtime: Runtime = {
  getConnInfo,
  onClose({ env: { outgoing } }: Context<{ Bindings: HttpBindings }>, listener) {
    outgoing.prependListener('close', () => listener(outgoing.statusCode, outgoing.errored))
  },
  addHeaders({ env: { outgoing } }: Context<{ Bindings: HttpBindings }>) {
    addDefaultHeaders(outgoing)
  },
}

/** The app as a server that does not listen yet. */
export function createNodeServer<RouteEnv extends Env, RouteSchema extends Schema>(
  options: AppOptions,
  routes: Hono<RouteEnv, RouteSchema>,
): Server {
  const { fetch } = createApp({ ...options, runtime }, routes)
  // The host name replaces a missing Host header, which HTTP/1.0 allows.
  const server = createAdaptorServer({ fetch, hostname: options.config.host }) as Server
  return protect(server, options)
}
