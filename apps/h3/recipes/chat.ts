// npm install crossws
import type { Server } from 'node:http'
import type { Hooks } from 'crossws'
import crossws from 'crossws/adapters/node'
import { defineWebSocketHandler, H3 } from 'h3'
import type { Health } from '#shared/health.ts'

export const chat = new H3().get(
  '/chat',
  defineWebSocketHandler({
    message(peer, message) {
      peer.send(message.text())
    },
  }),
)

// Lets the routes of an app accept WebSockets. Call it in server.ts, after the server is made: `acceptWebSockets(server, app, health)`.
// The plugin of `crossws/server` has no way to close them when the app stops.
export function acceptWebSockets(server: Server, app: H3, { signal }: Health): void {
  const { handleUpgrade, closeAll } = crossws({
    serverOptions: { maxPayload: 65_536 }, // bytes of a message
    async resolve(request) {
      const response: Response & { crossws?: Partial<Hooks> } = await app.fetch(request as Request)
      return response.crossws ?? { upgrade: () => response } // such as 404
    },
  })
  server.on('upgrade', handleUpgrade)

  signal.addEventListener('abort', () => {
    server.off('upgrade', handleUpgrade) // accepts no more
    closeAll(1001) // clients connect again elsewhere
    setTimeout(() => closeAll(1001, undefined, true), 2_000) // those that do not reply
  })
}
