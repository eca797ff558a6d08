import { setTimeout as sleep } from 'node:timers/promises'
import { formatMegabytes } from '@startgrid/cli/numbers.ts'
import { currentMemory } from '@startgrid/machine/processes.ts'
import { mean } from '@startgrid/stats/moments.ts'
import { tQuantile } from '@startgrid/stats/student.ts'
import type { Request } from '@startgrid/wire/request.ts'
import { hammer, watch } from '../clients.ts'
import { countFiles, type Server } from '../routes.ts'
import type { Fault, Finding, Row, Subject } from '../subject.ts'

/** Requests before the first look: a runtime grows while it becomes warm. */
const WARM = { count: 8_000, ms: 5_000 }
/** Of health, which responds soon, and of all pages. On a quiet machine the count ends a round, on a busy one the time. */
const QUICK = { count: 2_500, ms: 4_000 }
const PAGES = { count: 1_500, ms: 2_000 }
const ROUNDS = 6
const LOOKS = 3

/** Bytes per request, and in all, below which resident memory tells nothing in so short a time. */
const LEAST = 2_048
const UNDECIDED = 4 * LEAST
const LEAST_SUM = 8e6
/** Requests from which on a runtime is warm: one that served 500 pages grew by 18 and by 20 KB for each, in two looks. */
const MANY = 6_000

/** Bytes of a stream that are read, and the part of them that must not be in memory. */
const STREAM = { ms: 5_000, bytes: 400e6 }
/** At this rate it takes a minute. */
const STREAM_SLOW = 8e6
const STREAM_LEAST = 100e6
const STREAM_PART = 0.5

/** What was served is forgotten. */
export const keep: Fault = { name: 'keep', rows: { memory: tryRequests, 'stream memory': tryStream } }

/** A leak on every path shows soonest where most requests are served; one on some pages shows only there. */
async function tryRequests(subject: Subject, row: Row): Promise<Finding> {
  const server = await subject.start()
  const { headers, pages, health } = subject.routes
  const requests = pages.map(({ path }) => ({ target: path, headers }))
  const quick = { target: health, headers }
  const warm = await hammer(server.target, [quick, ...requests], WARM)
  const files = countFiles(server)
  const series = [await follow(server, [quick], QUICK, warm)]
  const isAll = requests.every(({ target }) => target === quick.target)
  // Requests for health do not warm what renders pages.
  if (!isAll && !isKept(series[0] ?? [])) series.push(await follow(server, requests, PAGES, 0))
  const sent = series.reduce((sum, looks) => sum + (looks.at(-1)?.at(-1)?.sent ?? 0), 0)
  const reason = server.whyEnded()
  if (reason !== undefined) return row.certain('dies', `under ${sent} requests in turn: ${reason}`)
  await sleep(300)
  const open = countFiles(server) - files
  if (open > sent / 50)
    return row.found('keeps', `${open} more files or sockets are open after ${sent} requests`)
  const kept = series.find(isKept)
  const slopes = (kept === undefined ? series : [kept]).map((looks) => slopeOf(looks.at(-1) ?? []))
  const [most] = slopes.toSorted((a, b) => b.high - a.high)
  if (most === undefined || Number.isNaN(most.value)) return row.untested('its memory cannot be read here')
  const kB = (bytes: number) => (bytes / 1_024).toFixed(1)
  const said = `${kB(most.value)} KB (${kB(most.low)}–${kB(most.high)}) per request`
  const path = kept === series[0] ? quick.target : 'its pages'
  if (kept !== undefined) return row.certain('keeps', `${said} of ${path}, again and again`)
  if (most.high > UNDECIDED) return row.warned(`undecided: ${said} after ${sent} requests`)
  return row.fine(`keeps at most ${kB(Math.max(most.high, LEAST))} KB per request (${sent} requests)`)
}

/** Memory after so many requests. */
interface Level {
  readonly sent: number
  readonly bytes: number
}

/** @returns the levels of each look. A cache fills once, and a heap grows for a while, so the next look is longer. */
async function follow(
  server: Server,
  requests: readonly Request[],
  { count, ms }: typeof QUICK,
  sentBefore: number,
): Promise<Level[][]> {
  const looks: Level[][] = []
  let level: Level = { sent: sentBefore, bytes: await memoryAtRest(server) }
  for (let look = 1; look <= LOOKS; look++) {
    const levels = [level]
    for (let round = 0; round < ROUNDS; round++) {
      const sent = level.sent + (await hammer(server.target, requests, { count: count * look, ms }))
      level = { sent, bytes: await memoryAtRest(server) }
      levels.push(level)
    }
    looks.push(levels)
    const { low, high } = slopeOf(levels)
    if (low <= LEAST && high <= UNDECIDED) break
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

/** Bytes per request, by least squares with a 95 % interval: a heap goes up and down about a line of what is kept. */
function slopeOf(levels: readonly Level[]): { value: number; low: number; high: number } {
  const [sent, bytes] = [mean(levels.map((one) => one.sent)), mean(levels.map((one) => one.bytes))]
  const sum = (of: (level: Level) => number) => levels.reduce((total, level) => total + of(level), 0)
  const spread = sum((one) => (one.sent - sent) ** 2)
  const value = sum((one) => (one.sent - sent) * (one.bytes - bytes)) / spread
  const error = sum((one) => (one.bytes - bytes - value * (one.sent - sent)) ** 2) / (levels.length - 2)
  const half = tQuantile(0.975, levels.length - 2) * Math.sqrt(error / spread)
  return { value, low: value - half, high: value + half }
}

/** What is kept of each request is kept for ever; what a runtime that becomes warm needs is less each time. */
function isKept(looks: readonly Level[][]): boolean {
  const [, second = [], third = []] = looks
  const grown = (third.at(-1)?.bytes ?? 0) - (second[0]?.bytes ?? 0)
  const isWarm = (third[0]?.sent ?? 0) > MANY
  return isWarm && grown > LEAST_SUM && [second, third].every((look) => slopeOf(look).low > LEAST)
}

/** What a long stream has sent is no longer needed. */
async function tryStream(subject: Subject, row: Row): Promise<Finding> {
  const { headers, stream, download } = subject.routes
  const path = stream ?? (download !== undefined && download.bytes > 10e6 ? download.path : undefined)
  if (path === undefined) return row.untested('no path that streams (--stream /path)')
  const { target, pids } = await subject.start()
  const before = currentMemory(pids()) ?? 0
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, currentMemory(pids()) ?? 0)
  }, 100)
  const read = (ms: number) => watch(target, { target: path, headers }, { ...STREAM, ms })
  let { bytes } = await read(STREAM.ms)
  // A busy machine needs longer, but not for what comes in drops.
  if (bytes > STREAM_SLOW && bytes < STREAM_LEAST) bytes = (await read(12 * STREAM.ms)).bytes
  clearInterval(timer)
  if (bytes < STREAM_LEAST) return row.untested(`${path} sends less than 100 MB in ${STREAM.ms / 1_000} s`)
  const grown = most - before
  const said = `+${formatMegabytes(grown)} MB while a client read ${formatMegabytes(bytes)} MB of ${path}`
  return grown > STREAM_PART * bytes ? row.found('keeps', said) : row.fine(said)
}
