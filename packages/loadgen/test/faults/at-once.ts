/** Answers at once. */

import { answer } from '../raw-server.ts'
import { did, offer } from './fault-process.ts'

await offer((socket) => {
  did.answers++
  did.readAt.push(performance.now())
  socket.write(answer('hi'))
})
