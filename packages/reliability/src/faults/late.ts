import { setTimeout as sleep } from 'node:timers/promises'
import { type Header, headerValue, type Request } from '@startgrid/wire/request.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { Client, type Watched, watch } from '../clients.ts'
import type { Fault, Finding, Row, Subject } from '../subject.ts'

/** Milliseconds for which a stream is watched, and the parts that must arrive meanwhile for a comparison. */
const WATCH_MS = 3_500
const PARTS = 4

/** Longer promises are not waited for. */
const LONGEST_PROMISE_S = 75
/** Milliseconds by which a connection must outlive what it promised: a request may be on its way. */
const MARGIN_MS = 500
const CONNECTIONS = 8

/** What a server promises comes, and when it is of use. */
export const late: Fault = { name: 'late', rows: { stream: tryStream, 'keep-alive': tryPromise } }

async function tryStream(subject: Subject, row: Row): Promise<Finding> {
  const { headers, stream } = subject.routes
  if (stream === undefined) return row.untested('no path that streams (--stream /path)')
  const { target } = await subject.start()
  const see = (where: Target, ...own: Header[]) => {
    const request = { target: stream, headers: [...headers, ['accept', 'text/event-stream, */*'], ...own] }
    return watch(where, request as Request, { ms: WATCH_MS })
  }
  const [plain, zipped] = [await see(target), await see(target, ['accept-encoding', 'gzip, br'])]
  const isEvents = headerValue(plain.headers, 'content-type')?.startsWith('text/event-stream') === true
  const say = (text: string) => (isEvents ? row.found('late', text) : row.warned(text))
  const [last = 0] = plain.arrivals.slice(-1)
  const events = plain.body.split(/\r?\n\r?\n/).length - 1
  if (isEvents && events >= PARTS && plain.arrivals.length < PARTS && last > 1_000)
    return say(`${events} events of ${stream} arrive in ${times(plain)} after ${Math.round(last)} ms`)
  if (plain.arrivals.length < PARTS)
    return row.untested(`${stream} sends fewer than ${PARTS} parts in ${WATCH_MS / 1_000} s`)
  const said = `${stream} arrives in ${times(plain)}`
  if (isHeld(plain, zipped)) return say(`${said}, and in ${times(zipped)} with accept-encoding: gzip`)
  if (subject.nginx === undefined) return row.fine(`${said}, in ${times(zipped)} with gzip`)
  const proxied = await see(await subject.front(target))
  if (!isHeld(plain, proxied))
    return row.fine(`${said}, in ${times(zipped)} with gzip and in ${times(proxied)} behind NGINX`)
  return row.warned(
    `${said}, and in ${times(proxied)} behind an NGINX that buffers: send x-accel-buffering: no`,
  )
}

const times = ({ arrivals }: Watched) => `${arrivals.length} ${arrivals.length === 1 ? 'part' : 'parts'}`

/** Parts may come together on their way, but not most of them. */
function isHeld({ arrivals }: Watched, { arrivals: others }: Watched): boolean {
  return others.length < arrivals.length / 2
}

async function tryPromise(subject: Subject, row: Row): Promise<Finding> {
  const { headers, health } = subject.routes
  const server = await subject.start()
  const lives = Array.from({ length: CONNECTIONS }, async (_, index) => {
    await sleep(250 * index)
    const client = new Client(server.target)
    await client.ask({ target: health, headers })
    // The server's time begins later, and it ends before that is seen here: it cannot have been longer than this.
    const beganAt = performance.now()
    const seen = await client.ask({ target: health, headers })
    const promised = promiseOf(seen.headers ?? [])
    const until = promised > LONGEST_PROMISE_S ? 0 : beganAt + 1_000 * promised + MARGIN_MS
    while (client.isConnected && performance.now() < until) await sleep(5)
    const life = { promised, seconds: (performance.now() - beganAt) / 1_000, isOpen: client.isConnected }
    client.close()
    return life
  })
  const [shortest] = (await Promise.all(lives)).toSorted((a, b) => a.seconds - b.seconds)
  const { promised = 0, seconds = 0, isOpen } = shortest ?? {}
  if (promised === 0) return row.untested('it promises nothing (keep-alive: timeout=)')
  if (promised > LONGEST_PROMISE_S) return row.untested(`it promises ${promised} s, which takes too long`)
  const missing = await subject.missing(row, server, `${promised} s without a request`)
  if (missing !== undefined) return missing
  if (isOpen || seconds > promised + MARGIN_MS / 1_000)
    return row.fine(`lives longer than the ${promised} s that it promises`)
  return row.certain(
    'lost',
    `closed after ${seconds.toFixed(2)} s, and promised ${promised} s: a request on its way is lost`,
  )
}

/** Seconds; 0 for none. */
function promiseOf(headers: readonly Header[]): number {
  const [, seconds = '0'] = /\btimeout=(\d{1,5})\b/.exec(headerValue(headers, 'keep-alive') ?? '') ?? []
  return Number(seconds)
}
