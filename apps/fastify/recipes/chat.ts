// npm install @fastify/websocket && npm install --save-dev @types/ws
import websocket from '@fastify/websocket'
import type { FastifyPluginAsync } from 'fastify'
import { acceptUpgrades, keepSockets, MAX_WAITING, refuseOtherSites } from '#shared/websockets.ts'

export const chat: FastifyPluginAsync = async (app) => {
  const options = {
    maxPayload: 65_536, // bytes of a message
    verifyClient: refuseOtherSites(app.config, []), // others that may: ['https://app.example.com']
  }
  await app.register(websocket, {
    options,
    errorHandler(err: NodeJS.ErrnoException, socket, request) {
      if (!err.code?.startsWith('WS_ERR_')) request.log.error({ err }, 'failed') // those are the client's fault
      socket.terminate()
    },
  })
  keepSockets(app.websocketServer, app.lifecycle.signal)
  acceptUpgrades(app.server, '/chat')

  app.get('/chat', { websocket: true }, (socket) => {
    socket.on('message', (data, isBinary) => {
      // Ask this before you send to many, too.
      if (socket.bufferedAmount > MAX_WAITING) return socket.terminate()
      socket.send(data, { binary: isBinary })
    })
  })
}
