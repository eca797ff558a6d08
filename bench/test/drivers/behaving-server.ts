import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export const BODY = 'Hello World!'
export const DELAY_MS = 20

/** A server that does what its paths say, every time or every fifth. */
export interface BehavingServer {
  target: { host: string; port: number }
  /** Requests that reached it so far. */
  requests(): number
  stop(): void
}

export async function startServer(): Promise<BehavingServer> {
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    void respond(request, response, requests % 5 === 0)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    target: { host: '127.0.0.1', port },
    requests: () => requests,
    stop: () => server.close().closeAllConnections(),
  }
}

async function respond(request: IncomingMessage, response: ServerResponse, fifth: boolean): Promise<void> {
  await sleep(DELAY_MS)
  if (request.url === '/never') return
  if (request.url === '/fifth-resets' && fifth) request.socket.resetAndDestroy()
  else if (request.url === '/fifth-closes' && fifth) request.socket.end()
  else if (request.url === '/fifth-500' && fifth) response.writeHead(500).end(BODY)
  else response.end(request.url === '/wrong' ? BODY.replace('W', 'w') : BODY)
}
