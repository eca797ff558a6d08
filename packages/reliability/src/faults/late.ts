import { setTimeout as sleep } from 'node:timers/promises'
import { plural } from '@startgrid/cli/text.ts'
import { type Header, headerValue, type Request } from '@startgrid/wire/request.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { Client, type Watched, watch } from '../clients.ts'
import { certain, type Finding, fine, found, untested, warned } from '../finding.ts'
import { EVENTS } from '../routes.ts'
import type { Subject } from '../subject.ts'

/** Milliseconds for which a stream is watched, and the parts that must arrive meanwhile for a comparison. */
const WATCH_MS = 3_500
const PARTS = 4

/** Milliseconds by which a connection must outlive what it promised: a request may be on its way. */
const MARGIN_MS = 500

/** A stream comes when it is of use. */
export async function tryStream(subject: Subject): Promise<Finding> {
  const { headers, stream } = subject.routes
  if (stream === undefined) return untested('no path that streams (--stream /path)')
  const { target } = await subject.start()
  const see = (where: Target, ...own: Header[]) => {
    const request = { target: stream, headers: [...headers, ['accept', `${EVENTS}, */*`], ...own] }
    return watch(where, request as Request, { ms: WATCH_MS })
  }
  const [plain, zipped] = [await see(target), await see(target, ['accept-encoding', 'gzip, br'])]
  const isEvents = headerValue(plain.headers, 'content-type')?.startsWith(EVENTS) === true
  const say = (text: string) => (isEvents ? found('late', text) : warned(text))
  const [last = 0] = plain.arrivals.slice(-1)
  const events = plain.body.split(/\r?\n\r?\n/).length - 1
  if (isEvents && events >= PARTS && plain.arrivals.length < PARTS && last > 1_000)
    return say(`${events} events of ${stream} arrive in ${times(plain)} after ${Math.round(last)} ms`)
  if (plain.arrivals.length < PARTS)
    return untested(`${stream} sends fewer than ${PARTS} parts in ${WATCH_MS / 1_000} s`)
  const said = `${stream} arrives in ${times(plain)}`
  if (isHeld(plain, zipped)) return say(`${said}, and in ${times(zipped)} with accept-encoding: gzip`)
  if (subject.nginx === undefined) return fine(`${said}, in ${times(zipped)} with gzip`)
  const proxied = await see(await subject.front(target))
  if (isHeld(plain, proxied))
    return warned(`${said}, and in ${times(proxied)} behind NGINX: send x-accel-buffering: no`)
  return fine(`${said}, in ${times(zipped)} with gzip and in ${times(proxied)} behind NGINX`)
}

const times = ({ arrivals }: Watched) => plural(arrivals.length, 'part')

/** Parts may come together on their way, but not most of them. */
function isHeld({ arrivals }: Watched, { arrivals: others }: Watched): boolean {
  return others.length < arrivals.length / 2
}

/** A kept connection lives as long as its server says. */
export async function tryPromise(subject: Subject): Promise<Finding> {
  const { headers, health } = subject.routes
  const server = await subject.start()
  const { seen } = await subject.probe(server)
  const promised = promiseOf(seen.headers ?? [])
  if (promised === 0) return untested('it promises nothing (keep-alive: timeout=)')
  if (promised > 75) return untested(`it promises ${promised} s, which takes too long`)
  const lives = Array.from({ length: 8 }, async (_, index) => {
    await sleep(250 * index)
    const client = new Client(server.target)
    await client.ask({ target: health, headers })
    // The server's time begins later, and it ends before that is seen here: it cannot have been longer than this.
    const beganAt = performance.now()
    await client.ask({ target: health, headers })
    while (client.isConnected && performance.now() < beganAt + 1_000 * promised + MARGIN_MS) await sleep(5)
    client.close()
    return performance.now() - beganAt
  })
  const seconds = Math.min(...(await Promise.all(lives))) / 1_000
  const missing = await subject.missing(server, `${promised} s without a request`)
  if (missing !== undefined) return missing
  if (seconds >= promised + MARGIN_MS / 1_000)
    return fine(`lives longer than the ${promised} s that it promises`)
  const said = `closed after ${seconds.toFixed(2)} s, and promised ${promised} s`
  return certain('lost', `${said}: a request on its way is lost`)
}

/** Seconds; 0 for none. */
function promiseOf(headers: readonly Header[]): number {
  const [, seconds = '0'] = /\btimeout=(\d{1,5})\b/.exec(headerValue(headers, 'keep-alive') ?? '') ?? []
  return Number(seconds)
}
