import { tracingChannel } from 'node:diagnostics_channel'
import { type IncomingMessage, Server, type ServerOptions, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { adaptPolicy, loadPage, type Rendering, startVite, track } from './page.ts'

export { ASSETS, ASSETS_DIR, pageElement, renderPage } from './page.ts'

/** Puts Vite in front of the app, on the app's own port. */

/** It never listens: the app's server passes it the upgrades to WebSocket. */
const upgrades = new Server()

const vite = await startVite({ middlewareMode: true, ws: { server: upgrades } })

// Reports each server just before it listens, whichever framework made it.
tracingChannel('net.server.listen').asyncStart.subscribe((message) => {
  const { server } = message as { server: unknown }
  if (server instanceof Server) standInFront(server)
})

/** Without a content security policy: that of `SecureResponse` would refuse the script of the overlay. */
const ERROR_HEADERS = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': '' }

/** Serves the browser's files, and loads the page before the app handles a request. */
function standInFront(server: Server): void {
  const listeners = server.listeners('request')
  server.removeAllListeners('request')
  server.on('request', async (request: IncomingMessage, response: ServerResponse) => {
    if (request.url?.startsWith(vite.config.base)) return vite.middlewares(request, response)
    const errorDocument = await loadPage()
    if (errorDocument !== undefined) {
      response.writeHead(500, ERROR_HEADERS).end(errorDocument)
      return
    }
    track((rendering) => {
      adaptHeaders(response, rendering)
      for (const listener of listeners) listener.call(server, request, response)
    })
  })
  takeUpgrades(server)
}

/** Vite gets its own upgrades only, and before the app's listeners: each would take or close every WebSocket of the server. */
function takeUpgrades(server: Server & ServerOptions): void {
  const { emit, shouldUpgradeCallback } = server
  const isVites = ({ url }: IncomingMessage) => url?.startsWith(vite.config.base) === true
  const listener = (): void => {}
  server.shouldUpgradeCallback = (request) => {
    if (!isVites(request)) return shouldUpgradeCallback?.call(server, request) === true
    server.once('upgrade', listener) // without one, Node closes the connection instead of emitting the event
    return true
  }
  server.emit = (event: string, ...values: unknown[]) => {
    const [request, socket] = values as [IncomingMessage, Socket]
    if (event !== 'upgrade' || !isVites(request)) return emit.call(server, event, ...values)
    server.off(event, listener)
    // While the app stops, Vite does not listen any more.
    if (!upgrades.emit(event, ...values)) socket.destroy()
    return true
  }
}

function adaptHeaders(response: ServerResponse, rendering: Rendering): void {
  const { writeHead } = response
  response.writeHead = (status: number, ...rest: unknown[]) => {
    for (const [name, value] of listHeaders(rest.at(-1))) response.setHeader(name, value)
    const policy = response.getHeader('content-security-policy')
    if (typeof policy === 'string')
      response.setHeader('content-security-policy', adaptPolicy(policy, rendering))
    return writeHead.call(response, rendering.hasFailed ? 500 : status)
  }
}

/** Reads headers in the forms that `writeHead` takes: an object, or an array of alternating names and values. */
function listHeaders(headers: unknown): [name: string, value: string][] {
  if (typeof headers !== 'object' || headers === null) return []
  if (!Array.isArray(headers)) return Object.entries(headers)
  return headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1]]] : []))
}
