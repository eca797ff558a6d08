import type { BunRequest, Server, WebSocketHandler } from 'bun'
import type { AppOptions } from '#shared/app-options.ts'

interface Data {
  signal: AbortSignal
}

export const chat = ({ health: { signal } }: AppOptions) => ({
  '/chat': {
    GET: (request: BunRequest<'/chat'>, server: Server<Data>) => {
      if (!signal.aborted && server.upgrade(request, { data: { signal } })) return
      return new Response('This is a WebSocket.', { status: 426, headers: { upgrade: 'websocket' } })
    },
  },
})

/** Of `Bun.serve`, in server.ts: `Bun.serve({ ...app, websocket })`. */
export const websocket: WebSocketHandler<Data> = {
  idleTimeout: 24, // seconds; Bun pings before that
  maxPayloadLength: 65_536, // bytes of a message
  open: (socket) => {
    socket.data.signal.addEventListener('abort', () => {
      socket.close(1001) // clients connect again elsewhere
      setTimeout(() => socket.terminate(), 2_000) // those that do not reply
    })
  },
  message: (socket, message) => {
    socket.send(message)
  },
}
