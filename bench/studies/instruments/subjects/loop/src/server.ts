import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** `server.ts N` goes N times through a loop for each request. It listens on PORT, so that `race` can start it as well. */

const rounds = Number(process.argv[2])

/** xorshift32 (Marsaglia 2003, Journal of Statistical Software 8:14): each round needs the one before it. */
function work(): number {
  let x = 123_456_789
  for (let round = 0; round < rounds; round++) {
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
  }
  return x
}

// A system waits for its turn for longer than Node's 5 s. The compiler may not leave out what is sent.
const server = createServer({ keepAliveTimeout: 65_000 }, (_request, response) => {
  response.setHeader('content-type', 'text/plain')
  response.end(work() === 0 ? 'never' : 'Hello World!')
})
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1')
await once(server, 'listening')

const { port } = server.address() as AddressInfo
// The launcher of the grid waits for this line.
console.log(JSON.stringify({ msg: 'listening', pid: process.pid, address: `http://127.0.0.1:${port}` }))
process.once('SIGTERM', () => process.exit())
