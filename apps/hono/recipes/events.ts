import { setTimeout as sleep } from 'node:timers/promises'
import { Hono } from 'hono'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'

export const events = new Hono().get('/events', (c) => {
  if (c.req.method === 'HEAD') return c.body(null, 200, { 'content-type': 'text/event-stream' })
  c.header('x-accel-buffering', 'no') // makes NGINX pass on each event at once

  const send = async (stream: SSEStreamingApi) => {
    const gone = new AbortController()
    stream.onAbort(() => gone.abort())
    const signal = AbortSignal.any([gone.signal, c.get('lifecycle').signal])
    let id = Number(c.req.header('last-event-id')) || 0 // what a browser has seen before its connection broke
    while (!signal.aborted) {
      await stream.writeSSE({ id: String(++id), data: `{"cups":${id}}` })
      // Proxies and `HANDLER_TIMEOUT_MS` close a connection that is silent for longer.
      await sleep(15_000, undefined, { signal }).catch(() => {})
    }
  }
  const response = streamSSE(c, send, async (err, stream) => {
    c.get('log').error({ err }, 'failed')
    await stream.close() // before `streamSSE` sends the message of the error to the client
  })
  response.headers.set('cache-control', 'no-store, no-transform') // nothing compresses events, and so holds them back
  return response
})
