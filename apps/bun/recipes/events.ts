import { setTimeout as sleep } from 'node:timers/promises'
import type { AppOptions } from '#shared/app-options.ts'

export const events = ({ lifecycle }: AppOptions) => ({
  '/events': {
    GET: (request: Request) => {
      const signal = AbortSignal.any([request.signal, lifecycle.signal])
      const last = Number(request.headers.get('last-event-id')) || 0 // what a browser has seen before its connection broke
      return new Response(createEvents(last + 1, signal), {
        headers: {
          'content-type': 'text/event-stream',
          'cache-control': 'no-store, no-transform', // nothing compresses events, and so holds them back
          'x-accel-buffering': 'no', // NGINX passes on each event at once
        },
      })
    },
  },
})

// Proxies and Bun's `idleTimeout` close a connection that is silent for too long. `server.timeout(request, 0)` would also keep a client that
// never reads. Bun does not tell what fails here: catch it, and log it.
async function* createEvents(first: number, signal: AbortSignal) {
  for (let id = first; !signal.aborted; id++) {
    yield `id: ${id}\ndata: {"cups":${id}}\n\n`
    await sleep(15_000, undefined, { signal }).catch(() => {})
  }
}
