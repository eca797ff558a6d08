/** Answers at once. */

import { did, offer } from './fault-process.ts'
import { answer } from './raw-server.ts'

await offer((socket) => {
  did.answers++
  did.readAt.push(performance.now())
  socket.write(answer('hi'))
})
