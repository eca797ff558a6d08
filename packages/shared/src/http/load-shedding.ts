import type { ServerResponse } from 'node:http'
import { createQueueWatch } from './overload.ts'

/** Milliseconds of rendering in one turn of the event loop; further requests wait in line. */
const BURST_MS = 10

/** A response of Node: `closed` is true after a client abort. */
type Response = Pick<ServerResponse, 'closed'>

interface Waiting {
  readonly since: number
  readonly response: Response
  readonly tell: (isShed: boolean) => void
}

/**
 * Lets pages wait in line, and sheds those that waited too long while the server is overloaded.
 *
 * Pages are rendered on one thread. Without a line, one turn of the event loop would render every page that is ready: 4 s for 2,000
 * clients at 2 ms each. libuv (since 1.45) accepts one connection per turn, so health checks on new connections would wait for many
 * turns. With a line, each turn renders one page. Requests of clients that have left are dropped.
 * @param maxWaitMs milliseconds; 0: no request waits, and none is shed
 * @param now the clock, in milliseconds
 * @returns `shouldShed`: call it once per expensive request, and refuse the request if it returns (or resolves to) true. The first
 *   10 ms of pages per turn do not wait, so an idle server pays one clock reading per page and one `setImmediate` per turn
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
