import { deepEqual, equal } from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { upgradeWebSocket } from '@hono/node-server'
import { Hono } from 'hono'
import { WebSocket, WebSocketServer } from 'ws'
import { createOptions } from '#shared/testing-before/options.ts'
import { serve } from '#shared/testing-before/serve.ts'
import { createNodeServer } from '../src/node-server.ts'

const routes = new Hono().get(
  '/echo',
  upgradeWebSocket((c) => ({
    onOpen: (_event, ws) => ws.send(`${c.get('requestId')}`),
    onMessage: ({ data }, ws) => ws.send(String(data)),
  })),
)

test('a WebSocket as node-server documents it; a route without one refuses the upgrade', async () => {
  const wss = new WebSocketServer({ noServer: true })
  await using server = await serve(createNodeServer(createOptions(), routes, { websocket: { server: wss } }))
  const url = server.url.replace('http', 'ws')
  const ws = new WebSocket(`${url}/echo`, { headers: { 'x-request-id': 'r-1' } })
  const received: string[] = []
  ws.on('message', (data) => received.push(String(data)))
  await once(ws, 'open')
  ws.send('one')
  while (received.length < 2) await once(ws, 'message')
  deepEqual(received, ['r-1', 'one'])
  ws.close()
  await once(ws, 'close')
  const refused = new WebSocket(`${url}/nowhere`)
  refused.on('error', () => {})
  const [, response] = await once(refused, 'unexpected-response')
  equal(response.statusCode, 404)
  refused.terminate()
})
