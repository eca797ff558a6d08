// npm install ws && npm install --save-dev @types/ws
import { upgradeWebSocket, type WebSocketServerLike } from '@hono/node-server'
import { Hono } from 'hono'
import { type WebSocket, WebSocketServer } from 'ws'
import type { AppOptions } from '#shared/app-options.ts'

/** Call it in server.ts. `createApp` gets its `routes` with the others, and `createAdaptorServer` the option `websocket`. */
export function chat({ health: { signal } }: AppOptions) {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 65_536 }) // bytes of a message

  const routes = new Hono().get(
    '/chat',
    upgradeWebSocket(() => {
      let pings: NodeJS.Timeout
      return {
        onOpen(_event, { raw }) {
          pings = setInterval(() => (raw as WebSocket).ping(), 15_000) // proxies close a connection that is silent for longer
        },
        onMessage: ({ data }, socket) => socket.send(data as string | ArrayBuffer),
        onClose: () => clearInterval(pings),
      }
    }),
  )

  signal.addEventListener('abort', () => {
    sockets.close() // accepts no more
    for (const socket of sockets.clients) socket.close(1001) // clients connect again elsewhere
    setTimeout(() => {
      for (const socket of sockets.clients) socket.terminate() // those that do not reply
    }, 2_000)
  })
  return { routes, websocket: { server: sockets as WebSocketServerLike } }
}
