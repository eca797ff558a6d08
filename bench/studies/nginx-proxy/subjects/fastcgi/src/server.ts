import { once } from 'node:events'
import { createServer } from 'node:net'
import { begin, listen, run } from '#shared/launch/lifecycle.ts'
import { Connection } from './connection.ts'

const { routes, ...options } = await begin('fastcgi', { json: () => import('./json.ts') })
const handler = routes.createApp()
const connections = new Set<Connection>()

const server = createServer({ noDelay: true }, (socket) => {
  const connection = new Connection(socket, handler)
  connections.add(connection)
  socket.on('data', (chunk: Buffer) => connection.push(chunk))
  socket.on('drain', () => socket.resume())
  socket.on('error', () => {}) // the web server has left; 'close' follows
  socket.once('close', () => connections.delete(connection))
})

await run(options, {
  // As Apache's mod_proxy_fcgi writes it.
  listen: async () => (await listen(server, options.config)).replace(/^http:/, 'fcgi:'),
  close: async () => {
    server.close()
    for (const connection of connections) connection.drain()
    await once(server, 'close')
  },
})
