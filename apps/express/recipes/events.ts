import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Router } from 'express'

export const events = Router()

events.get('/events', async (request, response) => {
  // So that each event comes at once: nothing compresses it, and NGINX does not wait for the next.
  response
    .type('text/event-stream')
    .set({ 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' })
  if (request.method === 'HEAD') return void response.end()

  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const signal = AbortSignal.any([gone.signal, response.locals.lifecycle.signal])
  const last = Number(request.get('last-event-id')) || 0 // what a browser has seen before its connection broke
  await pipeline(createEvents(last + 1, signal), response)
})

/** Proxies and `HANDLER_TIMEOUT_MS` close a connection that is silent for longer than 15 s. */
async function* createEvents(first: number, signal: AbortSignal) {
  for (let id = first; !signal.aborted; id++) {
    yield `id: ${id}\ndata: {"cups":${id}}\n\n`
    await sleep(15_000, undefined, { signal }).catch(() => {})
  }
}
