import { setTimeout as sleep } from 'node:timers/promises'
import { formatPercent } from '@startgrid/cli/numbers.ts'
import { until } from '@startgrid/cli/until.ts'
import { isRunning } from '@startgrid/machine/processes.ts'
import { ask, Client, NEVER, outcomeOf, REFUSED, type Seen, send, watch } from '../clients.ts'
import { certain, type Finding, fine, found, untested, warned } from '../finding.ts'
import type { Server } from '../routes.ts'
import type { Subject } from '../subject.ts'
import { KINDS } from './slow.ts'

/** Clients ask again at once over a link of so many milliseconds one way. */
const LINK_MS = 15

/** A person waits for so long without a complaint. */
const SOON_MS = 2_000

/** An orchestrator ends a server that is in use. @returns what became of requests under way, on kept and on new connections, and of the process */
export async function tryUnderWay(subject: Subject): Promise<Finding[]> {
  const { routes, stopping, keepsIdle } = subject
  const { headers, slow } = routes
  const server = await subject.start()
  const { target } = server
  const page = { target: routes.page.path, headers }
  let [before, asked, cut, isStopping] = [0, 0, 0, false]
  // They ask again at once, until they are refused.
  const busy = subject.clients({
    target: await subject.link(target, LINK_MS),
    requests: [page],
    count: 16,
    onSeen({ isReused, error, status }) {
      if (!isStopping) return void before++
      asked++
      // A new connection that is refused, or was accepted by the kernel alone, is nobody's fault: that is what a delay is for.
      if (isReused && (error !== undefined || status === 503)) cut++
      return !isReused && (error !== undefined || status === REFUSED)
    },
  })
  const idle = Array.from({ length: 3 }, () => new Client(target))
  await Promise.all(idle.map((client) => client.ask(page)))
  // A busy machine needs longer until all have a connection.
  await until('some have none', () => before >= 48, 10).catch(() => {})
  const { ms: usualMs } = await subject.probe(server)
  const sentAt = performance.now()
  const waiting = { ms: (slow?.ms ?? 0) * 5 + 30_000 }
  const sent = Array.from({ length: slow === undefined ? 0 : 5 }, () =>
    watch(target, { target: slow?.path ?? '/', headers }, waiting),
  )
  await sleep(slow === undefined ? 300 : Math.min(1_000, slow.ms * 0.4))
  const beganAt = terminate(server)
  isStopping = true
  // On a busy machine, a new connection may wait for longer than the delay.
  const refused =
    4 * usualMs > stopping.drainDelayMs
      ? untested(`${routes.health} takes ${(usualMs / 1_000).toFixed(1)} s before SIGTERM already`)
      : await askNewcomers(subject, server, stopping.drainDelayMs)
  const responses = await Promise.all(sent)
  const late = responses.filter(({ endMs }) => sentAt + endMs > beganAt)
  const lost = late.filter(({ status, endMs }) => endMs === NEVER || status >= 500).length
  // Then its clients only keep their connections.
  await sleep(Math.max(0, beganAt + 500 - performance.now()))
  void busy.stop()
  const exit = await judgeExit(server, stopping.graceMs)
  for (const client of idle) client.close()
  const link = `requests on kept connections over a link of ${LINK_MS} ms`
  const advice = ' were cut off or refused at SIGTERM: say connection: close first'
  const ofKept = judgeLoss(cut, asked, link, advice)
  return [
    { row: 'stop', ...judgeUnderWay(slow?.path, lost, late.length) },
    ...(stopping.drainDelayMs === 0 ? [] : [{ row: 'newcomers', ...refused }]),
    { row: 'kept', ...(cut === 0 || keepsIdle ? ofKept : warned(ofKept.text)) },
    { row: 'exit', ...exit },
  ]
}

/** @param what `GETs` @param how they were lost */
function judgeLoss(lost: number, count: number, what: string, how = ' got no response'): Finding {
  if (lost > 0) return found('lost', `${lost} of ${count} ${what}${how}`)
  // The upper limit of a share of which nothing was seen.
  const most = formatPercent(Math.min(1, 3 / Math.max(1, count)))
  return fine(`none of ${count} ${what} was lost (at most ${most})`)
}

function judgeUnderWay(path: string | undefined, lost: number, count: number): Finding {
  if (path === undefined) return untested('no path takes longer than 150 ms (--slow /path)')
  if (count === 0) return untested(`${path} is too fast to be under way at SIGTERM (--slow /path)`)
  return judgeLoss(lost, count, `requests of ${path} that were under way at SIGTERM`)
}

/** As a load balancer does that has not heard of it yet. */
async function askNewcomers({ routes }: Subject, { target }: Server, ms: number): Promise<Finding> {
  const until = performance.now() + ms
  let [asked, lost] = [0, 0]
  for (; performance.now() < until; asked++) {
    const { error } = await ask(target, { target: routes.page.path, headers: routes.headers })
    if (error !== undefined) lost++
    await sleep(20)
  }
  return judgeLoss(lost, asked, `new connections in ${ms / 1_000} s after SIGTERM`)
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

function stillRuns(graceMs: number, how: string): Finding {
  return found('hangs', `it still runs ${graceMs / 1_000} s after SIGTERM${how}`)
}

/** Waits for its end, from its last response on, and looks what lives on without the process that was started. */
async function judgeExit(server: Server, graceMs: number): Promise<Finding> {
  const ms = await endOf(server, performance.now() + graceMs)
  if (ms === undefined) return stillRuns(graceMs, ' and its last response')
  for (let waited = 0; waited < graceMs && server.pids().length > 0; waited += 50) await sleep(50)
  const { length } = server.pids()
  if (length > 0) {
    const { error } = await ask(server.target, '/', { timeoutMs: 3_000 })
    const still = error?.failure === 'refused' ? 'live on' : 'live on, and serve'
    const said = `${length} of its processes ${still} after SIGTERM to the one that was started`
    return certain('orphans', said)
  }
  const seconds = (ms / 1_000).toFixed(ms < 1_000 ? 2 : 1)
  const said = `it exits ${seconds} s after its last response, with idle connections open`
  return ms > SOON_MS ? warned(said) : fine(said)
}

/** Clients that have begun something, and never go on. */
export async function tryHalfSent(subject: Subject): Promise<Finding> {
  const { graceMs } = subject.stopping
  const server = await subject.start()
  const halves = Object.entries(KINDS).map(([what, of]) => ({ what, socket: send(server.target, of('/')) }))
  await sleep(300)
  const beganAt = terminate(server)
  let [ms, reason] = [await endOf(server, beganAt + SOON_MS), '']
  for (const { what, socket } of halves) {
    if (ms === undefined) reason = what
    socket.destroy()
    ms ??= await endOf(server, performance.now() + 1_000)
  }
  ms ??= await endOf(server, beganAt + SOON_MS + graceMs)
  if (ms === undefined) return stillRuns(graceMs, ', although all clients have left')
  if (reason !== '') return warned(`it waits for a client that has sent ${reason} when it is stopped`)
  return fine('half-sent and silent connections do not keep it from ending')
}

/** A release: two copies behind NGINX are stopped and started again in turn. */
export async function tryRestart(subject: Subject): Promise<Finding> {
  const { routes, nginx } = subject
  const { graceMs } = subject.stopping
  if (nginx === undefined) return untested('no NGINX on this machine')
  const first = await subject.start()
  const { elsewhere } = subject
  if (elsewhere !== undefined)
    return untested(`it listens on ${elsewhere}, whatever PORT says, so there is no second copy`)
  const second = await subject.start()
  const target = await subject.front(first.target, second.target)
  const { path, status } = routes.page
  let [responded, lost, how] = [0, 0, '']
  const onSeen = (seen: Seen) => {
    if (seen.error === undefined && seen.status === status) responded++
    else if (++lost === 1) how = outcomeOf(seen)
  }
  const asking = { target, requests: [{ target: path, headers: routes.headers }], pauseMs: 50, onSeen }
  const clients = subject.clients({ ...asking, count: 9, perConnection: 10 })
  await until('there have not been 100 responses', () => responded >= 100)
  for (const copy of [first, second]) {
    terminate(copy)
    const ms = await endOf(copy, performance.now() + graceMs)
    if (ms === undefined) return stillRuns(graceMs, ': NGINX goes on to ask on its connections')
    const { port } = copy.target as { port: number }
    // A connection of another program may have the port for a moment.
    const isBack = () => subject.start(port).then(Boolean, () => false)
    await until(`it cannot be started again on port ${port}`, isBack, 10, 500)
    const served = responded
    await until('nobody responds', () => responded > served + 50)
  }
  await clients.stop()
  const what = 'GETs through NGINX while two copies were stopped and started in turn'
  return judgeLoss(lost, responded + lost, what, `: GET ${path}: ${how}`)
}
