import type { Request } from '../src/request.ts'

/** What of njs's request sends a response in parts: https://nginx.org/en/docs/njs/reference.html#r_send */
interface Streaming extends Request {
  readonly method: string
  status: number
  sendHeader(): void
  send(part: string): void
  finish(): void
}

export default { stream }

/**
 * njs is not told that NGINX stops. So the stream ends after 5 s, which NGINX waits for, and the browser opens the next one with the id of its
 * last event.
 */
function stream(r: Streaming): void {
  r.status = 200
  Object.assign(r.headersOut, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store, no-transform', // nothing compresses events, and so holds them back
    'x-accel-buffering': 'no',
  })
  r.sendHeader()
  const id = (Number(r.headersIn['last-event-id']) || 0) + 1
  if (r.method === 'GET') r.send(`retry: 100\nid: ${id}\ndata: {"cups":${id}}\n\n`)
  setTimeout(() => r.finish(), r.method === 'GET' ? 5_000 : 0)
}
