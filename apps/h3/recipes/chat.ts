// npm install crossws
import type { Server } from 'node:http'
import type { Hooks } from 'crossws'
import crossws from 'crossws/adapters/node'
import { defineWebSocketHandler, H3 } from 'h3'
import type { AppOptions } from '#shared/app-options.ts'
import { acceptUpgrades, MAX_WAITING, refuseOtherSites } from '#shared/websockets.ts'

export const chat = new H3().get(
  '/chat',
  defineWebSocketHandler({
    message(peer, message) {
      const waiting = peer.send(message.rawData) // text or bytes, as it came
      if (Number(waiting) > MAX_WAITING) peer.terminate()
    },
  }),
)

// Lets the routes of an app accept WebSockets. Call it in server.ts, after the server is made: `acceptWebSockets(server, app, { config, lifecycle })`.
// The plugin of `crossws/server` has no way to close them when the app stops.
export function acceptWebSockets(
  server: Server,
  app: H3,
  { config, lifecycle: { signal } }: Pick<AppOptions, 'config' | 'lifecycle'>,
): void {
  const verifyClient = refuseOtherSites(config, []) // others that may: ['https://app.example.com']
  const { handleUpgrade, closeAll } = crossws({
    idleTimeout: 15, // seconds until a ping, and until a client that does not reply is cut
    serverOptions: { maxPayload: 65_536, verifyClient }, // bytes of a message
    async resolve(request) {
      const response: Response & { crossws?: Partial<Hooks> } = await app.fetch(request as Request)
      return response.crossws ?? { upgrade: () => response } // such as 404
    },
  })
  acceptUpgrades(server, '/chat')
  server.on('upgrade', handleUpgrade)

  signal.addEventListener('abort', () => {
    acceptUpgrades(server) // no more
    closeAll(1001) // clients connect again elsewhere
    setTimeout(() => closeAll(1001, undefined, true), 2_000) // those that do not reply
  })
}
