/** Responds at once. */

import { did, offer } from './fault-process.ts'
import { rawResponse } from './raw-server.ts'

await offer((socket) => {
  did.responses++
  did.readAt.push(performance.now())
  socket.write(rawResponse('hi'))
})
