/** Accepts every connection and closes it at once. */

import { createServer } from 'node:net'
import { did, tellParent } from './fault-process.ts'

const server = createServer((socket) => {
  did.connections++
  did.faults++
  socket.on('error', () => {})
  socket.destroy()
}).listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') tellParent(address.port)
})
