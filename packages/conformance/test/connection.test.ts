import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { type Connection, openConnection } from '../src/http/connection.ts'

/** Runs with a connection to a server that does nothing but what `serve` does. */
async function withServer(
  serve: (socket: Socket) => void,
  use: (open: () => Promise<Connection>) => Promise<void>,
  timeoutMs = 10_000,
) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    serve(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    await use(() => openConnection({ host: '127.0.0.1', port }, { timeoutMs }))
  } finally {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
}

const EMPTY = 'HTTP/1.1 204 No Content\r\n\r\n'

test('bytes behind a response are a fault of it', () =>
  withServer(
    (socket) => socket.write(`${EMPTY}more`),
    async (open) => {
      const connection = await open()
      const { faults } = await connection.exchange({ target: '/' })
      assert.deepEqual(faults, ['4 bytes after the response: "more"'])
      connection.destroy()
    },
  ))

test('interim responses are passed over', () =>
  withServer(
    (socket) =>
      socket.write(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${EMPTY}`),
    async (open) => {
      const connection = await open()
      assert.equal((await connection.exchange({ target: '/' })).status, 204)
      connection.destroy()
    },
  ))

test('a silent server is given up', () =>
  withServer(
    () => {},
    async (open) => {
      const connection = await open()
      await assert.rejects(connection.exchange({ target: '/' }), { failure: 'timeout' })
    },
    100,
  ))

test('a closed connection is no response, and what came before it counts', () =>
  withServer(
    (socket) => socket.end(EMPTY),
    async (open) => {
      const connection = await open()
      assert.equal((await connection.exchange({ target: '/' })).status, 204)
      await assert.rejects(connection.exchange({ target: '/' }), /closed|failed/)
    },
  ))
