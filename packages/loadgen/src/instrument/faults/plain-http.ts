/**
 * An ordinary node:http server that works about a millisecond for each request. Faultless: for comparisons of generators.
 *
 * Less work would not do: a generator that sleeps has to be woken, at the server's expense (about 9 µs in a virtual machine), and
 * one that polls has not. So this generator makes a server of 80 µs per request really answer 13 % more than wrk does.
 */

import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { did, tellParent } from './fault-process.ts'

const WORK = Buffer.alloc(1_400_000, 'work')

const server = createServer((_request, response) => {
  did.requests++
  did.answers++
  response.end(createHash('sha256').update(WORK).digest('hex'))
})
server.on('connection', () => did.connections++)
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') tellParent(address.port)
})
