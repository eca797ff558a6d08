import type { Server, ServerOptions } from 'node:http'
import { type H3, serve } from 'h3'
import { protect, SERVER_OPTIONS } from '#shared/http/protect.ts'
import { SecureResponse } from '#shared/http/secure-response.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { accessLog } from './middleware/access-log.ts'
import { keepTrusted } from './middleware/forwarded.ts'

/** The app as a server that does not listen yet. */
export function createNodeServer(options: AppOptions, app: H3): Server {
  const { trustProxy } = options.config
  const { node } = serve(app, {
    manual: true, // `listen` decides where
    silent: true,
    gracefulShutdown: false, // `drain` loses no request
    trustProxy: trustProxy !== false,
    middleware: [accessLog(options.log)],
    node: { ...SERVER_OPTIONS, ServerResponse: SecureResponse } as ServerOptions,
  })
  const server = node?.server as Server
  if (trustProxy !== false) server.prependListener('request', (request) => keepTrusted(request, trustProxy))
  return protect(server, options)
}
