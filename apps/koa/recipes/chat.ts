// npm install ws && npm install --save-dev @types/ws
import type { Server } from 'node:http'
import { WebSocketServer } from 'ws'
import type { Health } from '#shared/health.ts'

/** Call it in server.ts, after the server is made: `chat(server, health)`. */
export function chat(server: Server, { signal }: Health): void {
  const sockets = new WebSocketServer({ server, path: '/chat', maxPayload: 65_536 }) // bytes of a message

  sockets.on('connection', (socket) => {
    socket.on('error', () => {}) // a message that is too long, or a broken connection: ws closes it
    const pings = setInterval(() => socket.ping(), 15_000) // proxies close a connection that is silent for longer
    socket.once('close', () => clearInterval(pings))
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  })

  signal.addEventListener('abort', () => {
    sockets.close() // accepts no more
    for (const socket of sockets.clients) socket.close(1001) // clients connect again elsewhere
    setTimeout(() => {
      for (const socket of sockets.clients) socket.terminate() // those that do not reply
    }, 2_000)
  })
}
