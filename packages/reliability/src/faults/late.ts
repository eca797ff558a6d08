import { setTimeout as sleep } from 'node:timers/promises'
import { type Header, headerValue } from '@startgrid/wire/request.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { Client, type Watched, watch } from '../clients.ts'
import {
  confirmed,
  type Fault,
  type Finding,
  fine,
  found,
  type Subject,
  untested,
  warned,
} from '../subject.ts'

/** Milliseconds for which a stream is watched, and the parts that must arrive meanwhile for a comparison. */
const WATCH_MS = 3_500
const PARTS = 4

/** Longer promises are not waited for. */
const LONGEST_PROMISE_S = 75
/** Milliseconds by which a connection must outlive what it promised: a request may be on its way. */
const MARGIN_MS = 500

/** What a server promises comes, and when it is of use. */
export const late: Fault = {
  name: 'late',
  atOnce: 7, // it waits
  async run(subject) {
    const [streams, promise] = await Promise.all([
      confirmed('stream', () => tryStream(subject)),
      confirmed('keep-alive', () => tryPromise(subject)),
    ])
    return [...streams, ...promise]
  },
}

async function tryStream(subject: Subject): Promise<Finding[]> {
  const row = 'stream'
  const { headers, stream } = subject.routes
  if (stream === undefined) return [untested(row, 'no path that streams (--stream /path)')]
  const { target } = await subject.start()
  const see = (where: Target, own: readonly Header[] = []) =>
    watch(
      where,
      { target: stream, headers: [...headers, ['accept', 'text/event-stream, */*'], ...own] },
      { ms: WATCH_MS },
    )
  const [plain, zipped] = [await see(target), await see(target, [['accept-encoding', 'gzip, br']])]
  const isEvents = headerValue(plain.headers, 'content-type')?.startsWith('text/event-stream') === true
  const say = isEvents ? (text: string) => found(row, 'late', text) : (text: string) => warned(row, text)
  const [last = 0] = plain.arrivals.slice(-1)
  const events = plain.body.split(/\r?\n\r?\n/).length - 1
  if (isEvents && events >= PARTS && plain.arrivals.length < PARTS && last > 1_000)
    return [say(`${events} events of ${stream} arrive in ${times(plain)} after ${Math.round(last)} ms`)]
  if (plain.arrivals.length < PARTS)
    return [untested(row, `${stream} sends fewer than ${PARTS} parts in ${WATCH_MS / 1_000} s`)]
  if (isHeld(plain, zipped))
    return [
      say(`${stream} arrives in ${times(zipped)} with accept-encoding: gzip, in ${times(plain)} without`),
    ]
  if (subject.nginx === undefined)
    return [fine(row, `${stream} arrives in ${times(plain)}, in ${times(zipped)} with gzip`)]
  const proxied = await see(await subject.front(target))
  if (isHeld(plain, proxied))
    return [
      warned(
        row,
        `${stream} arrives in ${times(proxied)} behind an NGINX that buffers, in ${times(plain)} directly: send x-accel-buffering: no`,
      ),
    ]
  return [
    fine(
      row,
      `${stream} arrives in ${times(plain)}, in ${times(zipped)} with gzip and in ${times(proxied)} behind NGINX`,
    ),
  ]
}

const times = ({ arrivals }: Watched) => `${arrivals.length} ${arrivals.length === 1 ? 'part' : 'parts'}`

/** Parts may come together on their way, but not most of them. */
function isHeld({ arrivals }: Watched, { arrivals: others }: Watched): boolean {
  return others.length < arrivals.length / 2
}

async function tryPromise(subject: Subject): Promise<Finding[]> {
  const row = 'keep-alive'
  const { headers, health } = subject.routes
  const { target, whyEnded } = await subject.start()
  const clients = Array.from({ length: 3 }, () => new Client(target))
  const lives = await Promise.all(
    clients.map(async (client) => {
      const seen = await client.ask({ target: health, headers })
      const beganAt = performance.now()
      const promised = promiseOf(seen.headers ?? [])
      const until = beganAt + 1_000 * (promised ?? 0) + MARGIN_MS
      while (client.isConnected && performance.now() < until) await sleep(5)
      return { promised, ms: performance.now() - beganAt, isOpen: client.isConnected }
    }),
  )
  for (const client of clients) client.close()
  const [{ promised = 0 } = {}] = lives
  if (promised === 0) return [untested(row, 'it promises nothing (keep-alive: timeout=)')]
  if (promised > LONGEST_PROMISE_S) return [untested(row, `it promises ${promised} s, which takes too long`)]
  const reason = whyEnded()
  if (reason !== undefined) throw new Error(`${reason}, although nobody asked for anything`)
  if (lives.every(({ isOpen }) => !isOpen)) {
    const ms = Math.max(...lives.map((life) => life.ms))
    return [
      found(
        row,
        'lost',
        `closed after ${(ms / 1_000).toFixed(2)} s, and promised ${promised} s: a request on its way is lost`,
      ),
    ]
  }
  return [fine(row, `lives longer than the ${promised} s that it promises`)]
}

/** Seconds; undefined for none, and for more than is waited for. */
function promiseOf(headers: readonly Header[]): number | undefined {
  const [, seconds] = /\btimeout=(\d{1,5})\b/.exec(headerValue(headers, 'keep-alive') ?? '') ?? []
  return seconds === undefined ? undefined : Number(seconds)
}
