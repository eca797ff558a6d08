import type { BunRequest, Server, ServerWebSocket, WebSocketHandler } from 'bun'
import type { AppOptions } from '#shared/app-options.ts'

const sockets = new Set<ServerWebSocket<undefined>>()

export const chat = ({ health: { signal } }: AppOptions) => {
  signal.addEventListener('abort', () => {
    for (const socket of sockets) socket.close(1001) // clients connect again elsewhere; Bun waits for no reply
  })

  return {
    '/chat': {
      GET: (request: BunRequest<'/chat'>, server: Server<undefined>) => {
        if (!signal.aborted && server.upgrade(request)) return
        return new Response('This is a WebSocket.', { status: 426, headers: { upgrade: 'websocket' } })
      },
    },
  }
}

/** Of `Bun.serve`, in server.ts: `Bun.serve({ ...app, websocket })`. */
export const websocket: WebSocketHandler<undefined> = {
  idleTimeout: 24, // seconds; Bun pings before that
  maxPayloadLength: 65_536, // bytes of a message
  open: (socket) => void sockets.add(socket),
  close: (socket) => void sockets.delete(socket),
  message: (socket, message) => void socket.send(message),
}
