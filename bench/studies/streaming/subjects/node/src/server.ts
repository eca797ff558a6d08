import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { renderPage } from '@startgrid/shared/page/server.js'
import { recommendSlowly } from '@startgrid/shared/page/shop/back-end.ts'
import { closeSignal, streamPage } from '@startgrid/shared/page/stream-node.ts'
import { streamPage as streamWebPage } from '@startgrid/shared/page/stream-web.ts'

/**
 * `server.ts ROLE` sends the page of 50 items in one of these ways, on node:http and without anything else that an app has. `?delay=50` is how
 * many milliseconds its slow part takes. All ways but `whole` wait for it.
 */
const WAYS: Readonly<Record<string, (response: ServerResponse, delay: number) => Promise<void>>> = {
  /** `renderToString` */
  whole: async (response) => {
    response.end(await renderPage('shop', PROPS))
  },
  /** `renderToPipeableStream`, and nothing is sent until all of it is there. */
  gathered: async (response, delay) => {
    const html = await streamPage('shop', ...slowly(response, delay))
    response.end(await buffer(html))
  },
  /** `renderToPipeableStream`, each chunk as it comes. */
  streamed: async (response, delay) => {
    const html = await streamPage('shop', ...slowly(response, delay))
    await pipeline(html, response)
  },
  /** `renderToReadableStream`, each chunk as it comes. */
  web: async (response, delay) => {
    const html = await streamWebPage('shop', ...slowly(response, delay))
    // The types of web streams of Node and of browsers differ.
    await pipeline(Readable.fromWeb(html as Parameters<typeof Readable.fromWeb>[0]), response)
  },
}

const PROPS = { items: 50, requestId: '', nonce: '' }

function slowly(response: ServerResponse, delay: number) {
  const signal = closeSignal(response)
  return [{ ...PROPS, pending: recommendSlowly(PROPS.items, delay, signal) }, signal, console.error] as const
}

const way = WAYS[process.argv[2] ?? '']
if (way === undefined) throw new Error(`There is no way ${process.argv[2]}.`)

// A system waits for its turn for longer than Node's 5 s.
const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost')
  response.setHeader('content-type', 'text/html; charset=utf-8')
  way(response, Number(searchParams.get('delay') ?? 0)).catch((error: Error) => response.destroy(error))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')

const { port } = server.address() as AddressInfo
// The launcher of the grid waits for this line.
console.log(JSON.stringify({ msg: 'listening', pid: process.pid, address: `http://127.0.0.1:${port}` }))
process.once('SIGTERM', () => process.exit())
