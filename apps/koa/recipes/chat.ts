// npm install ws && npm install --save-dev @types/ws
import type { Server } from 'node:http'
import { WebSocketServer } from 'ws'
import type { AppOptions } from '#shared/app-options.ts'
import { acceptUpgrades, keepSockets, MAX_WAITING, refuseOtherSites } from '#shared/websockets.ts'

/** Call it in server.ts, after the server is made: `chat(server, { config, lifecycle, log })`. */
export function chat(server: Server, { config, lifecycle }: AppOptions): void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: 65_536, // bytes of a message
    verifyClient: refuseOtherSites(config, []), // others that may: ['https://app.example.com']
  })
  keepSockets(sockets, lifecycle.signal)

  sockets.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => {
      // Ask this before you send to many, too.
      if (socket.bufferedAmount > MAX_WAITING) return socket.terminate()
      socket.send(data, { binary: isBinary })
    })
  })

  acceptUpgrades(server, '/chat')
  server.on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client, request))
  })
}
