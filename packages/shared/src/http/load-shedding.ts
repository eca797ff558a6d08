import type { ServerResponse } from 'node:http'

/** The `retry-after` of a page that is refused, in seconds. A person reloads later than that, and the queue is gone by then. */
export const RETRY_AFTER = '1'

/** Milliseconds of pages that one turn of the event loop renders before further requests wait in line. */
const BURST_MS = 10

/** Milliseconds for which every wait must be above the target before the queue counts as a standing one. */
export const STANDING_MS = 100

/** A response of Node: `closed` after the client has gone. */
type Response = Pick<ServerResponse, 'closed'>

interface Waiting {
  readonly since: number
  readonly response: Response
  readonly tell: (isShed: boolean) => void
}

/**
 * Tells a standing queue from a hiccup, as CoDel does (RFC 8289 section 3.2): a pause leaves a queue that drains, overload one
 * that stays.
 * @param targetMs milliseconds that a request may wait
 * @returns to be called with the wait of each request that leaves the queue, and the time: whether the shortest wait of the last
 *   100 ms is above the target
 */
export function createQueueWatch(targetMs: number): (waitMs: number, now: number) => boolean {
  let aboveSince: number | undefined
  return (waitMs, now) => {
    if (waitMs <= targetMs) aboveSince = undefined
    else aboveSince ??= now
    return aboveSince !== undefined && now - aboveSince >= STANDING_MS
  }
}

/**
 * Makes pages wait in line where there are too many, and sheds those that have waited for too long in a standing queue.
 * Pages are rendered on one thread, one at a time. Without a line, one turn of the event loop would render all that are ready: 2,000
 * clients at 2 ms each make it 4 s long. libuv accepts one connection per turn (since 1.45), so probes on new connections would wait for
 * many turns. With a line, each turn renders one page. Requests whose client has gone are dropped.
 * @param maxWaitMs milliseconds; 0: no request waits, and none is shed
 * @param now the clock, in milliseconds
 * @returns `shouldShed`, to be called once per request that costs something: whether to refuse it, perhaps after a wait. Up to 10 ms of
 *   pages per turn are told at once, so a server with time to spare pays a clock reading per page and a `setImmediate` per turn
 */
export function createLoadShedder(
  maxWaitMs: number,
  now: () => number = () => performance.now(),
): (response: Response) => boolean | Promise<boolean> {
  if (maxWaitMs === 0) return () => false
  const burstMs = Math.min(BURST_MS, maxWaitMs)
  const isStanding = createQueueWatch(maxWaitMs)
  const line: Waiting[] = []
  let isBusy = false
  let turnSince = 0

  /** Runs between two turns. */
  function serveNext(): void {
    const time = now()
    let next = line.shift()
    while (next !== undefined && (next.response.closed || isStanding(time - next.since, time))) {
      next.tell(true)
      next = line.shift()
    }
    isBusy = next !== undefined
    if (next === undefined) return
    turnSince = time
    setImmediate(serveNext)
    next.tell(false)
  }

  return function shouldShed(response) {
    const time = now()
    if (!isBusy) {
      isBusy = true
      turnSince = time
      setImmediate(serveNext)
    }
    if (line.length === 0 && time - turnSince <= burstMs) {
      isStanding(0, time)
      return false
    }
    const { promise, resolve } = Promise.withResolvers<boolean>()
    line.push({ since: time, response, tell: resolve })
    return promise
  }
}
