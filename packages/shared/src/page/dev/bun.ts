import { createServer } from 'node:http'
import { adaptPolicy, loadPage, startVite, track } from './page.ts'

export { ASSETS, ASSETS_DIR, pageElement, renderPage } from './page.ts'

/** Puts Vite in front of the app. `Bun.serve` takes no Node middleware, so Vite listens on a port of its own. */

interface BunServer {
  stop(): void
}
/** It returns nothing after `server.upgrade()`. */
type Handler = (request: Request, server: BunServer) => Response | undefined | Promise<Response | undefined>
interface Options {
  port?: number
  hostname?: string
  fetch: Handler
  routes?: Record<string, Handler | Record<string, Handler>>
}
declare const Bun: { serve: (options: Options) => BunServer }

const HTML = { 'content-type': 'text/html; charset=utf-8' }

const port = findPort()
const files = createServer()
// Vite's own server would end the process at SIGTERM, before the app has drained.
const vite = await startVite({ middlewareMode: true, ws: { server: files, clientPort: port } })
files.on('request', vite.middlewares)

const { serve } = Bun
Bun.serve = ({ fetch, routes = {}, ...options }) => {
  Bun.serve = serve
  const handlers = Object.entries(routes).map(([path, route]) => {
    if (typeof route === 'function') return [path, standInFront(route)]
    const byMethod = Object.entries(route).map(([method, handler]) => [method, standInFront(handler)])
    return [path, Object.fromEntries(byMethod)]
  })
  const server = serve({ ...options, fetch: standInFront(fetch), routes: Object.fromEntries(handlers) })
  // Start Vite after the app: when a browser reconnects to Vite after a restart, it needs the app as well.
  files.listen(port, '127.0.0.1')
  return server
}

/** Serves the browser's files, and loads the page before the app handles a request. */
function standInFront(handler: Handler): Handler {
  return async (request, server) => {
    const { pathname, search } = new URL(request.url)
    if (pathname.startsWith(vite.config.base))
      return fetch(`http://127.0.0.1:${port}${pathname}${search}`, { headers: request.headers })
    const errorDocument = await loadPage()
    if (errorDocument !== undefined) return new Response(errorDocument, { status: 500, headers: HTML })
    return track(async (rendering) => {
      const response = await handler(request, server)
      if (response === undefined) return undefined
      const policy = response.headers.get('content-security-policy')
      if (policy !== null) response.headers.set('content-security-policy', adaptPolicy(policy, rendering))
      return rendering.hasFailed
        ? new Response(response.body, { headers: response.headers, status: 500 })
        : response
    })
  }
}

/** The first free port, starting at Vite's default. It is the same after a restart, so the browser can reconnect. */
function findPort(port = 24_678): number {
  try {
    Bun.serve({ port, hostname: '127.0.0.1', fetch: () => new Response() }).stop()
    return port
  } catch {
    return findPort(port + 1)
  }
}
