import { setTimeout as sleep } from 'node:timers/promises'
import { formatMegabytes } from '@startgrid/cli/numbers.ts'
import { currentMemory } from '@startgrid/machine/processes.ts'
import { mean } from '@startgrid/stats/moments.ts'
import { tQuantile } from '@startgrid/stats/student.ts'
import type { Request } from '@startgrid/wire/request.ts'
import { hammer, watch } from '../clients.ts'
import { certain, type Finding, fine, found, untested, warned } from '../finding.ts'
import { countFiles, type Server } from '../routes.ts'
import type { Subject } from '../subject.ts'

/** Requests before the first look: a runtime grows while it becomes warm. */
const WARM = { count: 8_000, ms: 5_000 }
/** Of health, which responds soon, and of all pages. On a quiet machine the count ends a round, on a busy one the time. */
const QUICK = { count: 2_500, ms: 4_000 }
const PAGES = { count: 1_500, ms: 2_000 }

/** Bytes per request below which resident memory tells nothing in so short a time. */
const LEAST = 2_048
const UNDECIDED = 4 * LEAST

/** Bytes of a stream that must be read. Less than half of them must be in memory. */
const STREAM_LEAST = 100e6

/** What was served is forgotten. A leak on every path shows soonest where most requests are served; one on some pages shows only there. */
export async function tryRequests(subject: Subject): Promise<Finding> {
  const server = await subject.start()
  const { headers, pages, health } = subject.routes
  const requests = pages.map(({ path }) => ({ target: path, headers }))
  const quick = { target: health, headers }
  const warm = await hammer(server.target, [quick, ...requests], WARM)
  const files = countFiles(server)
  let most = await follow(server, [quick], QUICK, warm)
  let [path, { sent }] = [health, most]
  // Requests for health do not warm what renders pages.
  if (!most.isKept && requests.some(({ target }) => target !== health)) {
    const ofPages = await follow(server, requests, PAGES, 0)
    sent += ofPages.sent
    if (ofPages.isKept || ofPages.high > most.high) [most, path] = [ofPages, 'its pages']
  }
  const reason = server.whyEnded()
  if (reason !== undefined) return certain('dies', `under ${sent} requests in turn: ${reason}`)
  await sleep(300)
  const open = countFiles(server) - files
  if (open > sent / 50) return found('keeps', `${open} more files or sockets are open after ${sent} requests`)
  if (Number.isNaN(most.value)) return untested('its memory cannot be read here')
  const kB = (bytes: number) => (bytes / 1_024).toFixed(1)
  const said = `${kB(most.value)} KB (${kB(most.low)}–${kB(most.high)}) per request`
  if (most.isKept) return certain('keeps', `${said} of ${path}, again and again`)
  if (most.high > UNDECIDED) return warned(`undecided: ${said} after ${sent} requests`)
  return fine(`keeps at most ${kB(Math.max(most.high, LEAST))} KB per request (${sent} requests)`)
}

/** Memory after so many requests. */
interface Level {
  readonly sent: number
  readonly bytes: number
}

/**
 * Looks at memory in rounds. A cache fills once, and a heap grows for a while, so the next look is longer. What is kept of each request
 * is kept for ever.
 * @returns the slope of the last look
 */
async function follow(server: Server, requests: readonly Request[], size: typeof QUICK, sent: number) {
  let level: Level = { sent, bytes: await memoryAtRest(server) }
  let [last, risen] = [level, 0]
  for (let look = 1; ; look++) {
    const [before, levels] = [last, [level]]
    last = level
    for (let round = 0; round < 6; round++) {
      const more = await hammer(server.target, requests, { ...size, count: size.count * look })
      level = { sent: level.sent + more, bytes: await memoryAtRest(server) }
      levels.push(level)
    }
    const slope = slopeOf(levels)
    risen = slope.low > LEAST ? risen + 1 : 0
    if (look === 3 || (slope.value <= LEAST && slope.high <= UNDECIDED)) {
      // A runtime that was not warm grew by 18 and by 20 KB for each of 500 pages, in two looks.
      const isKept = risen > 1 && last.sent > 6_000 && level.bytes - before.bytes > 8e6
      return { ...slope, sent: level.sent, isKept }
    }
  }
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

/** What a long stream has sent is no longer needed. */
export async function tryStream(subject: Subject): Promise<Finding> {
  const { headers, stream, download } = subject.routes
  const path = stream ?? (download !== undefined && download.bytes > 10e6 ? download.path : undefined)
  if (path === undefined) return untested('no path that streams (--stream /path)')
  const { target, pids } = await subject.start()
  const before = currentMemory(pids()) ?? 0
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, currentMemory(pids()) ?? 0)
  }, 100)
  const read = (ms: number) => watch(target, { target: path, headers }, { ms, bytes: 4 * STREAM_LEAST })
  let { bytes } = await read(5_000)
  // A busy machine needs longer, but not for what comes in drops.
  if (bytes > STREAM_LEAST / 12 && bytes < STREAM_LEAST) bytes = (await read(60_000)).bytes
  clearInterval(timer)
  if (bytes < STREAM_LEAST) return untested(`${path} sends too little to tell: less than 100 MB`)
  const grown = most - before
  const said = `+${formatMegabytes(grown)} MB while a client read ${formatMegabytes(bytes)} MB of ${path}`
  return grown > bytes / 2 ? found('keeps', said) : fine(said)
}
