// npm install @fastify/websocket && npm install --save-dev @types/ws
import websocket from '@fastify/websocket'
import type { FastifyPluginAsync } from 'fastify'

export const chat: FastifyPluginAsync = async (app) => {
  await app.register(websocket, { options: { maxPayload: 65_536 } }) // bytes of a message
  const { websocketServer: server, health } = app

  health.signal.addEventListener('abort', () => {
    server.close() // accepts no more
    for (const socket of server.clients) socket.close(1001) // clients connect again elsewhere
    setTimeout(() => {
      for (const socket of server.clients) socket.terminate() // those that do not reply
    }, 2_000)
  })

  app.get('/chat', { websocket: true }, (socket) => {
    const pings = setInterval(() => socket.ping(), 15_000) // proxies close a connection that is silent for longer
    socket.once('close', () => clearInterval(pings))
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  })
}
