import { EventEmitter, once } from 'node:events'
import { Readable } from 'node:stream'

/** What the routes of `fixtures/failing.ts` do, in every framework. */

/** As of axios and its kin: a status of its own, and the request with its credentials. */
export function foreignError(): Error {
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
export async function untilLeft(signal: AbortSignal): Promise<void> {
  arrivals.emit('request')
  await once(signal, 'abort')
}

/** For frameworks whose bodies are web streams. */
export function asWeb(source: Readable | AsyncIterable<Buffer>): ReadableStream {
  return Readable.toWeb(source instanceof Readable ? source : Readable.from(source)) as ReadableStream
}
