import { setTimeout as sleep } from 'node:timers/promises'
import { EventStream, H3 } from 'h3'

export const events = new H3().get('/events', (event) => {
  event.res.headers.set('x-accel-buffering', 'no') // makes NGINX pass on each event at once
  const stream = new EventStream(event)
  const gone = new AbortController()
  stream.onClosed(() => gone.abort())
  const signal = AbortSignal.any([gone.signal, event.context.lifecycle.signal])
  const last = Number(event.req.headers.get('last-event-id')) || 0 // what a browser has seen before its connection broke
  void pushEvents(stream, last + 1, signal)
  return stream
})

/** Proxies and `HANDLER_TIMEOUT_MS` close a connection that is silent for longer than 15 s. */
async function pushEvents(stream: EventStream, first: number, signal: AbortSignal): Promise<void> {
  for (let id = first; !signal.aborted; id++) {
    await stream.push({ id: String(id), data: `{"cups":${id}}` })
    await sleep(15_000, undefined, { signal }).catch(() => {})
  }
  await stream.close()
}
