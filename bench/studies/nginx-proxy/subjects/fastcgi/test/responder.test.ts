import { equal, ok } from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { QUIET_MS } from '#shared/process/drain.ts'
import type { Handler, Respond } from '../src/responder/connection.ts'
import { createResponder } from '../src/responder/responder.ts'
import { Client } from './support/client.ts'
import {
  begin,
  encode,
  encodePairs,
  GET_VALUES,
  readResponse,
  request,
  variables,
} from './support/records.ts'

/** A responder on a free port, closed at the end of the block. */
async function serve(handler: Handler) {
  const responder = createResponder(handler)
  const sockets: Socket[] = []
  responder.server.on('connection', (socket) => sockets.push(socket))
  responder.server.listen(0, '127.0.0.1')
  await once(responder.server, 'listening')
  const { port } = responder.server.address() as AddressInfo
  return {
    responder,
    sockets,
    open: () => Client.open({ host: '127.0.0.1', port }),
    async [Symbol.asyncDispose]() {
      responder.server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

const sayUrl: Handler = ({ url }, respond) => respond(200, {}, url)

/** Handlers that wait for the test. */
function waiting() {
  const responds: Respond[] = []
  const handler: Handler = (_, respond) => responds.push(respond)
  const until = async (count: number) => {
    while (responds.length < count) await sleep(5)
  }
  return { handler, responds, until }
}

test('many requests on one connection, and many connections', async () => {
  await using server = await serve(sayUrl)
  const clients = await Promise.all(Array.from({ length: 20 }, () => server.open()))
  await Promise.all(
    clients.map(async (client, index) => {
      for (let turn = 0; turn < 50; turn++) {
        equal(String((await client.get(`/${index}/${turn}`)).body), `/${index}/${turn}`)
      }
    }),
  )
  equal(server.sockets.length, 20)
})

test('requests sent at once, one behind the other on the wire, all get a response', async () => {
  await using server = await serve(sayUrl)
  const client = await server.open()
  client.send(...request(1, variables('/a')), ...request(2, variables('/b')))
  equal(String(readResponse(await client.records(), 1).body), '/a')
  equal(String(readResponse(await client.records(), 2).body), '/b')
})

test('garbage closes its own connection and no other', async () => {
  await using server = await serve(sayUrl)
  const [good, bad] = [await server.open(), await server.open()]
  bad.socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await bad.closed()
  equal((await good.get('/')).status, 200)
})

test('a web server that leaves amid a request, or resets, does no harm', async (t) => {
  const { handler, responds, until } = waiting()
  await using server = await serve(handler)
  const [leaving, resetting] = [await server.open(), await server.open()]
  for (const client of [leaving, resetting]) client.send(...request(1, variables('/')))
  await until(2)
  leaving.socket.destroy()
  resetting.socket.resetAndDestroy()
  while (!server.sockets.every(({ closed }) => closed)) await sleep(5)
  const writes = server.sockets.map((socket) => t.mock.method(socket, 'write'))
  for (const respond of responds) respond(200, {}, 'nobody is there')
  for (const write of writes) equal(write.mock.callCount(), 0)
  const next = await server.open()
  const response = next.get('/')
  await until(3)
  responds[2]?.(200, {}, 'still here')
  equal(String((await response).body), 'still here')
})

test('a peer that asks and does not read is not read from until it does', async () => {
  await using server = await serve(sayUrl)
  const client = await server.open()
  const [socket] = server.sockets
  ok(socket)
  client.socket.pause()
  const question = { type: GET_VALUES, id: 0, content: encodePairs([['FCGI_MPXS_CONNS', '']]) }
  const questions = encode(...Array.from({ length: 10_000 }, () => question))
  // Far more than all the buffers in between can take.
  while (!socket.isPaused()) if (!client.socket.write(questions)) await sleep(5)
  ok(socket.writableLength < 4 * 2 ** 20, `${socket.writableLength} bytes wait to be sent`)
  client.socket.removeAllListeners('data').resume()
  while (socket.isPaused()) await sleep(5)
})

test('an idle connection is closed after a time that NGINX does not reach; a slow handler is waited for', async () => {
  const { handler, responds, until } = waiting()
  await using server = await serve(handler)
  const [idle, begun, busy] = [await server.open(), await server.open(), await server.open()]
  begun.send(begin(1))
  busy.send(...request(1, variables('/')))
  await until(1)
  for (const socket of server.sockets) {
    ok((socket.timeout ?? 0) > 60_000)
    socket.emit('timeout')
  }
  await Promise.all([idle.closed(), begun.closed()])
  responds[0]?.(200, {}, 'at last')
  equal(String(readResponse(await busy.records(), 1).body), 'at last')
})

test('drains: what is in flight gets its response, who is active comes once more, who is silent is closed', async () => {
  const { handler, responds, until } = waiting()
  await using server = await serve(handler)
  const [silent, inFlight, active] = [await server.open(), await server.open(), await server.open()]
  inFlight.send(...request(1, variables('/')))
  await until(1)
  let drained = false
  const draining = server.responder.drain().then(() => {
    drained = true
  })
  active.send(...request(1, variables('/')))
  await until(2)
  responds[1]?.(200, {}, 'once more')
  equal(String(readResponse(await active.records(), 1).body), 'once more')
  await Promise.all([active.closed(), silent.closed()])
  await sleep(2 * QUIET_MS)
  equal(drained, false)
  responds[0]?.(200, {}, 'in flight')
  equal(String(readResponse(await inFlight.records(), 1).body), 'in flight')
  await draining
})
