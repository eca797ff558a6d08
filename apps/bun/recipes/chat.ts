import type { BunRequest, Server, ServerWebSocket, WebSocketHandler } from 'bun'
import createError from 'http-errors'
import type { AppOptions } from '#shared/app-options.ts'
import { forwardedOf } from '../src/forwarded.ts'

const sockets = new Set<ServerWebSocket<undefined>>()

/** Other sites whose pages may, such as `https://app.example.com`. */
const ORIGINS: string[] = []

export const chat = ({ config, lifecycle: { signal } }: AppOptions) => {
  signal.addEventListener('abort', () => {
    for (const socket of sockets) socket.close(1001) // clients connect again elsewhere; Bun waits for no reply
  })

  return {
    '/chat': {
      GET: (request: BunRequest<'/chat'>, server: Server<undefined>) => {
        const { scheme, host } = forwardedOf(request, server, config)
        const origin = request.headers.get('origin') // only browsers send it, and cookies with it
        if (origin !== null && ![`${scheme}://${host}`, ...ORIGINS].includes(origin))
          throw createError(403, 'This WebSocket is from another site.')
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
  backpressureLimit: 262_144, // bytes that may wait for a client that does not read
  closeOnBackpressureLimit: true,
  open: (socket) => void sockets.add(socket),
  close: (socket) => void sockets.delete(socket),
  message: (socket, message) => void socket.send(message),
}
