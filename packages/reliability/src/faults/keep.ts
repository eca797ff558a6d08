import { setTimeout as sleep } from 'node:timers/promises'
import { formatMegabytes } from '@startgrid/cli/numbers.ts'
import { currentMemory } from '@startgrid/machine/processes.ts'
import { meanInterval } from '@startgrid/stats/estimate.ts'
import type { Request } from '@startgrid/wire/request.ts'
import { ask, hammer, watch } from '../clients.ts'
import { countFiles } from '../footprint.ts'
import type { Server } from '../routes.ts'
import { type Fault, type Finding, Row, type Subject } from '../subject.ts'

/** Requests before the first look: a runtime grows while it becomes warm. */
const WARM = { count: 8_000, ms: 5_000 }
/** Of the path that responds soonest, and of all pages. On a quiet machine the count ends a round, on a busy one the time. */
const QUICK = { count: 2_500, ms: 4_000 }
const PAGES = { count: 1_500, ms: 2_000 }
const ROUNDS = 6
const LOOKS = 3
/** From so many requests on, the heap of a runtime that becomes warm weighs less than what is kept. */
const MANY = 15_000

/** Bytes per request below which resident memory tells nothing in so short a time. */
const LEAST = 2_048
const UNDECIDED = 4 * LEAST

/** Bytes of a stream that are read, and the part of them that must not be in memory. */
const STREAM = { ms: 6_000, bytes: 400e6 }
const STREAM_LEAST = 100e6
const STREAM_PART = 0.5

const memory = new Row('memory')
const streamed = new Row('stream memory')

/** What was served is forgotten. */
export const keep: Fault = {
  name: 'keep',
  seconds: 45,
  async run(subject) {
    return [
      ...(await memory.confirmed(() => tryRequests(subject))),
      ...(await streamed.confirmed(() => tryStream(subject))),
    ]
  },
}

/** A leak on every path shows soonest where most requests are served; one on some pages shows only there. */
async function tryRequests(subject: Subject): Promise<Finding> {
  const server = await subject.start()
  const { headers, pages, health } = subject.routes
  const requests = pages.map(({ path }) => ({ target: path, headers }))
  const quickest = await quickestOf(server, [{ target: health, headers }, ...requests])
  await hammer(server.target, [quickest, ...requests], WARM)
  const files = countFiles(server.pids())
  const series = [await follow(server, [quickest], QUICK)]
  const isAll = requests.every(({ target }) => target === quickest.target)
  if (!isAll && !isKept(series[0] ?? [])) series.push(await follow(server, requests, PAGES))
  const sent = series.flat(2).reduce((sum, { count }) => sum + count, 0)
  const reason = server.whyEnded()
  if (reason !== undefined) return memory.certain('dies', `under ${sent} requests in turn: ${reason}`)
  await sleep(300)
  const open = countFiles(server.pids()) - files
  if (open > sent / 50)
    return memory.found('keeps', `${open} more files or sockets are open after ${sent} requests`)
  const kept = series.find(isKept)
  const judged = kept === undefined ? series.map((looks) => looks.slice(-1)) : [kept.filter(grows).slice(-1)]
  const [most] = judged
    .map(([rounds = []]) => intervalOf(rounds))
    .toSorted((a, b) => (b.high ?? 0) - (a.high ?? 0))
  if (most === undefined || most.low === null || most.high === null || Number.isNaN(most.value))
    return memory.untested('its memory cannot be read here')
  const kB = (bytes: number) => (bytes / 1_024).toFixed(1)
  const said = `${kB(most.value)} KB (${kB(most.low)}–${kB(most.high)}) per request`
  const path = kept === series[0] ? quickest.target : 'its pages'
  if (kept !== undefined) return memory.found('keeps', `${said} of ${path}, again and again`)
  if (most.high > UNDECIDED) return memory.warned(`undecided: ${said} after ${sent} requests`)
  return memory.fine(`keeps at most ${kB(Math.max(most.high, LEAST))} KB per request (${sent} requests)`)
}

/** By the best of three looks. */
async function quickestOf({ target }: Server, requests: readonly Request[]): Promise<Request> {
  let [quickest, least] = [requests[0] ?? { target: '/' }, Number.POSITIVE_INFINITY]
  for (const request of [...requests, ...requests, ...requests]) {
    const beganAt = performance.now()
    await ask(target, request)
    const ms = performance.now() - beganAt
    if (ms < least) [quickest, least] = [request, ms]
  }
  return quickest
}

interface Round {
  readonly bytes: number
  readonly count: number
}

/** @returns the rounds of each look. A cache fills once, and a heap grows for a while, so the next look is longer. */
async function follow(
  server: Server,
  requests: readonly Request[],
  { count, ms }: typeof QUICK,
): Promise<Round[][]> {
  const looks: Round[][] = []
  for (let look = 1; look <= LOOKS; look++) {
    const rounds: Round[] = []
    let before = await memoryAtRest(server)
    for (let round = 0; round < ROUNDS; round++) {
      const responded = await hammer(server.target, requests, { count: count * look, ms })
      const after = await memoryAtRest(server)
      rounds.push({ bytes: after - before, count: responded })
      before = after
    }
    looks.push(rounds)
    if (!grows(rounds) && (intervalOf(rounds).high ?? 0) <= UNDECIDED) break
  }
  return looks
}

/** The least of some looks: what is about to be freed is not kept. */
async function memoryAtRest({ pids }: Server): Promise<number> {
  const looks: number[] = []
  for (let look = 0; look < 4; look++) {
    await sleep(50)
    looks.push(currentMemory(pids()) ?? Number.NaN)
  }
  return Math.min(...looks)
}

const intervalOf = (rounds: readonly Round[]) =>
  meanInterval(rounds.map(({ bytes, count }) => bytes / Math.max(1, count)))

function grows(rounds: readonly Round[]): boolean {
  return (intervalOf(rounds).low ?? 0) > LEAST
}

/** What is kept of each request is kept for ever. A collection of garbage may hide it in one look, if there are many requests. */
function isKept(looks: readonly Round[][]): boolean {
  const sent = looks.flat().reduce((sum, { count }) => sum + count, 0)
  const least = sent >= MANY ? LOOKS - 1 : LOOKS
  return looks.filter(grows).length >= least && intervalOf(looks.at(-1) ?? []).value > LEAST
}

/** What a long stream has sent is no longer needed. */
async function tryStream(subject: Subject): Promise<Finding> {
  const { headers, stream, download } = subject.routes
  const path = stream ?? (download !== undefined && download.bytes > 10e6 ? download.path : undefined)
  if (path === undefined) return streamed.untested('no path that streams (--stream /path)')
  const { target, pids } = await subject.start()
  const before = currentMemory(pids()) ?? 0
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, currentMemory(pids()) ?? 0)
  }, 100)
  const { bytes } = await watch(target, { target: path, headers }, STREAM).finally(() => clearInterval(timer))
  if (bytes < STREAM_LEAST)
    return streamed.untested(`${path} sends less than 100 MB in ${STREAM.ms / 1_000} s`)
  const grown = most - before
  const said = `+${formatMegabytes(grown)} MB while a client read ${formatMegabytes(bytes)} MB of ${path}`
  return grown > STREAM_PART * bytes ? streamed.found('keeps', said) : streamed.fine(said)
}
