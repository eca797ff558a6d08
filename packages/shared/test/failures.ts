import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

/** What the routes of `fixtures/failing.ts` do, in every framework. */

/** Of a body that is not sent after all. */
export const ofBody = {
  'cache-control': 'public, max-age=3600',
  'content-encoding': 'gzip',
  'content-length': '4',
}

/** Handlers that fail before they respond, by path. The signal is aborted when the client leaves. */
export const BEFORE: Record<string, (signal: AbortSignal) => Promise<never>> = {
  async '/rejects'() {
    throw new DOMException('secret', 'AbortError') // not because the client has left
  },
  async '/rejects/with/nothing'() {
    throw undefined
  },
  async '/errors/foreign'() {
    throw foreignError()
  },
  async '/late'(signal) {
    await untilLeft(signal)
    throw new Error('secret')
  },
  async '/late/aborts'(signal) {
    await untilLeft(signal)
    throw signal.reason
  },
}

/** Handlers that fail amid their response, where a framework gives them that of Node. */
export const AMID: Record<string, (response: ServerResponse) => Promise<void>> = {
  async '/breaks'(response) {
    response.write('half')
    throw new Error('secret')
  },
  async '/late/amid'(response) {
    response.write('half')
    await once(response, 'close')
    throw new Error('secret')
  },
  async '/stalls'(response) {
    response.write('half')
    const left = new AbortController()
    response.once('close', () => left.abort())
    await sleep(60_000, undefined, { signal: left.signal }) // rejects, as fetch does
  },
}

/** As of axios and its kin: a status of its own, and the request with its credentials. */
function foreignError(): Error {
  const headers = { 'retry-after': '1' }
  const config = { headers: { authorization: 'credentials' }, data: 'credentials' }
  return Object.assign(new Error('secret'), {
    status: 401,
    statusCode: 401,
    headers,
    config,
    response: { config },
  })
}

export async function* breakAmid() {
  yield Buffer.from('half')
  throw new Error('secret')
}

/** Is destroyed without an error, as a file or a connection that somebody closes. */
export function endEarly(start = ''): Readable {
  const source = new Readable({ read() {} })
  if (start) source.push(start)
  setTimeout(() => source.destroy(), 20)
  return source
}

export const arrivals = new EventEmitter()

/** Waits for the client to leave, as for a slow database. */
async function untilLeft(signal: AbortSignal): Promise<void> {
  arrivals.emit('request')
  await once(signal, 'abort')
}

/** For frameworks whose bodies are web streams. */
export function asWeb(source: Readable | AsyncIterable<Buffer>): ReadableStream {
  return Readable.toWeb(source instanceof Readable ? source : Readable.from(source)) as ReadableStream
}

/** The same of a body that begins and does not go on. */
export function stallAmid(): ReadableStream {
  return new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('half')),
  })
}
