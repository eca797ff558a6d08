import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { ask, openConnection } from '../src/client.ts'
import { NoResponse } from '../src/reader.ts'

/** A server that does nothing but what `serve` does. */
async function start(context: TestContext, serve: (socket: Socket) => void) {
  const server = createServer((socket) => serve(socket.on('error', () => {})))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  context.after(() => server.close())
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
}

const EMPTY = 'HTTP/1.1 204 No Content\r\n\r\n'
const PATIENT = { timeoutMs: 10_000 }

test('bytes behind a response are a fault of it', async (context) => {
  const target = await start(context, (socket) => socket.write(`${EMPTY}more`))
  const { faults } = await ask(target, { target: '/' }, PATIENT)
  assert.deepEqual(faults, ['4 bytes after the response: "more"'])
})

test('responses of one connection, the head of one before its body', async (context) => {
  const target = await start(context, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhe')
    socket.once('data', () => socket.end('lloHTTP/1.1 200 OK\r\n\r\nthe end'))
  })
  const connection = await openConnection(target, PATIENT)
  const { status, body } = await connection.head()
  assert.deepEqual([status, body.length <= 2], [200, true])
  connection.send({ target: '/' })
  assert.equal(String((await connection.response()).body), 'hello')
  assert.equal(connection.isOpen, true)
  assert.equal(String((await connection.response()).body), 'the end')
  assert.equal(connection.isOpen, false)
})

test('a closed connection is no response, and what came before it counts', async (context) => {
  const target = await start(context, (socket) =>
    socket.end(`${EMPTY}HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nab`),
  )
  const connection = await openConnection(target, PATIENT)
  assert.equal((await connection.response()).status, 204)
  const error = await connection.response().catch((error: unknown) => error)
  assert.ok(error instanceof NoResponse && error.failure === 'closed')
  assert.equal(error.message, 'the connection was closed amid a response, after 2 bytes of its body')
  assert.deepEqual([error.part?.status, String(error.part?.body)], [200, 'ab'])
  assert.equal(connection.isOpen, false)
})

test('a reset is no end of a body', async (context) => {
  const target = await start(context, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\nhalf')
    socket.once('data', () => socket.resetAndDestroy())
  })
  const connection = await openConnection(target, PATIENT)
  await connection.head()
  connection.send({ target: '/' })
  await assert.rejects(connection.response(), { failure: 'reset' })
})

test('a silent server is given up, and so is one that was waited for until an abort', async (context) => {
  const target = await start(context, () => {})
  await assert.rejects(ask(target, { target: '/' }, { timeoutMs: 100 }), { failure: 'timeout' })
  const run = ask(target, { target: '/' }, { ...PATIENT, signal: AbortSignal.timeout(100) })
  await assert.rejects(run, { failure: 'aborted' })
})
