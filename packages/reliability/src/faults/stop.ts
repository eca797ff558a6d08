import { setTimeout as sleep } from 'node:timers/promises'
import { formatPercent } from '@startgrid/cli/numbers.ts'
import { until } from '@startgrid/cli/until.ts'
import { isRunning } from '@startgrid/machine/processes.ts'
import { connect } from '@startgrid/wire/target.ts'
import { ask, Client, watch } from '../clients.ts'
import { REFUSED } from '../link.ts'
import type { Server } from '../routes.ts'
import {
  certain,
  confirmed,
  type Fault,
  type Finding,
  fine,
  found,
  type Subject,
  untested,
  warned,
} from '../subject.ts'

/** Requests of the slow path that are under way at SIGTERM, and clients that ask again at once, over a link. */
const SLOW = 5
const BUSY = 16
const LINK_MS = 15

/** Clients go on to ask for so long. */
const LEAVE_MS = 500

/** A person waits for so long without a complaint. */
const SOON_MS = 2_000

/** An orchestrator ends a server that is in use. */
export const stop: Fault = {
  name: 'stop',
  atOnce: 2,
  async run(subject) {
    return [
      ...(await confirmed('stop', () => tryUnderWay(subject))),
      ...(await confirmed('half-sent', () => tryHalfSent(subject))),
    ]
  },
}

async function tryUnderWay(subject: Subject): Promise<Finding[]> {
  const { routes, patience } = subject
  const { headers, slow, pages, health } = routes
  const server = await subject.start()
  const link = await subject.link(server.target)
  const page = { target: pages[0]?.path ?? health, headers }
  const busy = new Busy(BUSY, () => new Client(link), page)
  const idle = Array.from({ length: 3 }, () => new Client(server.target))
  await Promise.all(idle.map((client) => client.ask(page)))
  const sentAt = performance.now()
  const waiting = { ms: (slow?.ms ?? 0) * 5 + 30_000 }
  const sent =
    slow === undefined
      ? []
      : Array.from({ length: SLOW }, () => watch(server.target, { target: slow.path, headers }, waiting))
  await sleep(slow === undefined ? 300 : Math.min(1_000, slow.ms * 0.4))
  const beganAt = terminate(server)
  busy.isStopping = true
  const newcomers = await askNewcomers(subject, server, patience.drainDelayMs)
  const responses = await Promise.all(sent)
  const underWay = responses.filter(({ endMs }) => endMs === undefined || sentAt + endMs > beganAt)
  const lost = underWay.filter(({ status, endMs }) => endMs === undefined || status >= 500).length
  // Then its clients only keep their connections.
  await sleep(Math.max(0, beganAt + LEAVE_MS - performance.now()))
  busy.stop()
  const ms = await endOf(server, performance.now() + patience.graceMs)
  const left = await leftOver(server, patience.graceMs)
  busy.close()
  for (const client of idle) client.close()
  return [
    judgeUnderWay(slow?.path, lost, underWay.length),
    ...(patience.drainDelayMs === 0 ? [] : [newcomers]),
    busy.judge(subject),
    left ?? judgeEnd(ms, patience.graceMs),
  ]
}

function judgeUnderWay(path: string | undefined, lost: number, count: number): Finding {
  if (path === undefined) return untested('stop', 'no path takes longer than 150 ms (--slow /path)')
  const what = `${count} requests of ${path} that were under way at SIGTERM`
  if (count === 0) return untested('stop', `${path} is too fast to be under way at SIGTERM (--slow /path)`)
  return lost > 0
    ? found('stop', 'lost', `${lost} of ${what} got no response`)
    : fine('stop', `${what} got their response`)
}

/** Clients on kept connections that ask again at once, until they are refused. */
class Busy {
  isStopping = false
  readonly #clients: readonly Client[]
  #isOver = false
  #asked = 0
  #lost = 0

  constructor(count: number, open: () => Client, request: { target: string }) {
    this.#clients = Array.from({ length: count }, open)
    for (const client of this.#clients) void this.#run(client, request)
  }

  /** They ask for no more. */
  stop(): void {
    this.#isOver = true
  }

  close(): void {
    for (const client of this.#clients) client.close()
  }

  async #run(client: Client, request: { target: string }): Promise<void> {
    while (!this.#isOver) {
      const isStopping = this.isStopping
      const seen = await client.ask(request)
      if (!this.isStopping) continue
      this.#asked++
      // A new connection that is refused, or was accepted by the kernel alone, is nobody's fault: that is what a delay is for.
      if (seen.isReused && (seen.error !== undefined || seen.status === 503)) this.#lost++
      if (isStopping && !seen.isReused && (seen.error !== undefined || seen.status === REFUSED)) break
    }
  }

  judge({ keepsIdle }: Subject): Finding {
    const what = `requests on kept connections over a link of ${LINK_MS} ms`
    if (this.#lost === 0)
      return fine(
        'kept',
        `none of ${this.#asked} ${what} was lost at SIGTERM (at most ${formatPercent(Math.min(1, 3 / Math.max(1, this.#asked)))})`,
      )
    const said = `${this.#lost} of ${this.#asked} ${what} were cut off or refused at SIGTERM: say connection: close first`
    return keepsIdle ? found('kept', 'lost', said) : warned('kept', said)
  }
}

/** As a load balancer does that has not heard of it yet. */
async function askNewcomers({ routes }: Subject, { target }: Server, ms: number): Promise<Finding> {
  const until = performance.now() + ms
  const request = { target: routes.pages[0]?.path ?? routes.health, headers: routes.headers }
  let [asked, lost] = [0, 0]
  while (performance.now() < until) {
    const { error } = await ask(target, request)
    asked++
    if (error !== undefined) lost++
    await sleep(20)
  }
  const said = `of ${asked} new connections in ${ms / 1_000} s after SIGTERM got no response`
  return lost > 0 ? found('newcomers', 'lost', `${lost} ${said}`) : fine('newcomers', `none ${said}`)
}

/** @returns when */
function terminate({ pid }: Server): number {
  if (isRunning(pid)) process.kill(pid, 'SIGTERM')
  return performance.now()
}

/** @returns milliseconds until the process that was started has ended; undefined: not by then */
async function endOf({ pid }: Server, deadline: number): Promise<number | undefined> {
  const beganAt = performance.now()
  while (isRunning(pid)) {
    if (performance.now() > deadline) return undefined
    await sleep(10)
  }
  return performance.now() - beganAt
}

/** What lives on without the process that was started. */
async function leftOver({ pid, pids, target }: Server, graceMs: number): Promise<Finding | undefined> {
  if (isRunning(pid)) return undefined
  for (let waited = 0; waited < graceMs && pids().length > 0; waited += 50) await sleep(50)
  const { length } = pids()
  if (length === 0) return undefined
  const seen = await ask(target, '/', { timeoutMs: 3_000 })
  const still = seen.error?.failure === 'refused' ? 'live on' : 'live on, and serve'
  return certain(
    'exit',
    'orphans',
    `${length} of its processes ${still} after SIGTERM to the one that was started`,
  )
}

/** @param ms from its last response on */
function judgeEnd(ms: number | undefined, graceMs: number): Finding {
  if (ms === undefined)
    return found('exit', 'hangs', `it still runs ${graceMs / 1_000} s after SIGTERM and its last response`)
  const said = `it exits ${(ms / 1_000).toFixed(ms < 1_000 ? 2 : 1)} s after its last response, with idle connections open`
  return ms > SOON_MS ? warned('exit', said) : fine('exit', said)
}

/** In the order in which they leave. */
const HALVES = {
  'a connection that has sent nothing': '',
  'half a request': 'GET / HTTP/1.1\r\nhost: localhost\r\nx-half: ',
  'half a body': 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\na',
}

/** Clients that have begun something, and never go on. */
async function tryHalfSent(subject: Subject): Promise<Finding[]> {
  const row = 'half-sent'
  const server = await subject.start()
  const { target } = server
  const sockets = Object.entries(HALVES).map(([what, bytes]) => {
    const socket = connect(target)
      .on('error', () => {})
      .resume()
    if (bytes !== '') socket.write(bytes)
    return { what, socket }
  })
  await sleep(300)
  const beganAt = terminate(server)
  let ms = await endOf(server, beganAt + SOON_MS)
  let reason = ''
  for (const { what, socket } of sockets) {
    if (ms === undefined) reason = what
    socket.destroy()
    ms ??= await endOf(server, performance.now() + 1_000)
  }
  ms ??= await endOf(server, beganAt + SOON_MS + subject.patience.graceMs)
  if (ms === undefined)
    return [
      found(
        row,
        'hangs',
        `it still runs ${subject.patience.graceMs / 1_000} s after SIGTERM, although all clients have left`,
      ),
    ]
  if (reason !== '') return [warned(row, `it waits for ${reason} when it is stopped`)]
  return [fine(row, 'half-sent and silent connections do not keep it from ending')]
}

/** A release: two copies behind NGINX are stopped and started again in turn. */
export const restart: Fault = {
  name: 'restart',
  atOnce: 3,
  run: (subject) => confirmed('start again', () => tryRestart(subject)),
}

async function tryRestart(subject: Subject): Promise<Finding[]> {
  const row = 'start again'
  const { routes, nginx, patience } = subject
  if (nginx === undefined) return [untested(row, 'no NGINX on this machine')]
  const first = await subject.start()
  if (subject.elsewhere !== undefined)
    return [
      untested(row, `it listens on ${subject.elsewhere}, whatever PORT says, so there is no second copy`),
    ]
  const second = await subject.start()
  const target = await subject.front(first.target, second.target)
  const [{ path, status } = { path: routes.health, status: 200 }] = routes.pages
  const readers = subject.clients({
    target,
    path,
    headers: routes.headers,
    statuses: [status],
    kept: 6,
    fresh: 3,
  })
  await until('there have not been 100 responses', () => readers.responded >= 100)
  for (const copy of [first, second]) {
    terminate(copy)
    const ms = await endOf(copy, performance.now() + patience.graceMs)
    if (ms === undefined)
      return [found(row, 'hangs', `it still runs ${patience.graceMs / 1_000} s after SIGTERM`)]
    if ('port' in copy.target) await startAgain(subject, copy.target.port)
    const served = readers.responded
    await until('nobody responds', () => readers.responded > served + 50)
  }
  const tally = await readers.stop()
  const lost = [...tally.failures.values()].reduce((sum, count) => sum + count, tally.crossed)
  const total = tally.responded + lost
  const what = 'GETs through NGINX while two copies were stopped and started in turn'
  if (lost > 0)
    return [found(row, 'lost', `${lost} of ${total} ${what}: ${[...tally.failures.keys()][0] ?? 'cut off'}`)]
  return [fine(row, `none of ${total} ${what} was lost (at most ${formatPercent(3 / total)})`)]
}

/** The port is that of the copy, but a connection of another program may have it for a moment. */
async function startAgain(subject: Subject, port: number): Promise<void> {
  for (let left = 10; ; left--) {
    try {
      await subject.start(port)
      return
    } catch (error) {
      if (left === 0) throw error
      await sleep(500)
    }
  }
}
