import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { route } from '../src/router.ts'

export const events = [
  route('GET', '/events', async ({ request, response, lifecycle }) => {
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform', // nothing compresses events, and so holds them back
      'x-accel-buffering': 'no', // makes NGINX pass on each event at once
    })
    if (request.method === 'HEAD') return void response.end()

    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const signal = AbortSignal.any([gone.signal, lifecycle.signal])
    const last = Number(request.headers['last-event-id']) || 0 // what a browser has seen before its connection broke
    await pipeline(createEvents(last + 1, signal), response)
  }),
]

/** Proxies and `HANDLER_TIMEOUT_MS` close a connection that is silent for longer than 15 s. */
async function* createEvents(first: number, signal: AbortSignal) {
  for (let id = first; !signal.aborted; id++) {
    yield `id: ${id}\ndata: {"cups":${id}}\n\n`
    await sleep(15_000, undefined, { signal }).catch(() => {})
  }
}
