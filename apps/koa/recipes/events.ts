import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import Router from '@koa/router'

export const events = new Router()

events.get('/events', (ctx) => {
  // So that each event comes at once: nothing compresses it, and NGINX does not wait for the next.
  ctx.type = 'text/event-stream'
  ctx.set({ 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' })
  const gone = new AbortController()
  ctx.res.once('close', () => gone.abort())
  const signal = AbortSignal.any([gone.signal, ctx.lifecycle.signal])
  const last = Number(ctx.get('last-event-id')) || 0 // what a browser has seen before its connection broke
  ctx.body = Readable.from(createEvents(last + 1, signal))
})

/** Proxies and `HANDLER_TIMEOUT_MS` close a connection that is silent for longer than 15 s. */
async function* createEvents(first: number, signal: AbortSignal) {
  for (let id = first; !signal.aborted; id++) {
    yield `id: ${id}\ndata: {"cups":${id}}\n\n`
    await sleep(15_000, undefined, { signal }).catch(() => {})
  }
}
