// npm install ws && npm install --save-dev @types/ws
import { upgradeWebSocket, type WebSocketServerLike } from '@hono/node-server'
import { Hono } from 'hono'
import { type WebSocket, WebSocketServer } from 'ws'
import type { AppOptions } from '#shared/app-options.ts'
import { keepSockets, MAX_WAITING, refuseOtherSites } from '#shared/websockets.ts'

/**
 * Call it in server.ts. `createApp` gets its `routes` with the others, and `createAdaptorServer` the option `websocket`. After the server is
 * made: `acceptUpgrades(server, '/chat')` of `#shared/websockets.ts`.
 */
export function chat({ config, lifecycle }: AppOptions) {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: 65_536, // bytes of a message
    verifyClient: refuseOtherSites(config, []), // others that may: ['https://app.example.com']
  })
  keepSockets(sockets, lifecycle.signal)

  const routes = new Hono().get(
    '/chat',
    upgradeWebSocket(() => ({
      onMessage({ data }, { raw }) {
        const socket = raw as WebSocket
        // Ask this before you send to many, too.
        if (socket.bufferedAmount > MAX_WAITING) return socket.terminate()
        socket.send(data as string | ArrayBuffer)
      },
    })),
  )
  return { routes, websocket: { server: sockets as WebSocketServerLike } }
}
