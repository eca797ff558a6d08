import type { ServerResponse } from 'node:http'

/**
 * What a page that is refused for overload says: seconds, for `retry-after`. Sooner than a person would reload, and late enough for
 * the queue to be gone.
 */
export const RETRY_AFTER = '1'

/** Milliseconds in which one turn of the event loop serves whatever comes. */
const BURST_MS = 10

/** An answer of Node: `closed` when nobody waits for it any more. */
type Answer = Pick<ServerResponse, 'closed'>

interface Waiting {
  readonly since: number
  readonly response: Answer
  readonly answer: (isBehind: boolean) => void
}

/**
 * Makes pages wait in line where there are too many, one per turn of the event loop, and refuses those that have waited for too long.
 * Pages are rendered on one thread, one at a time. Without a line, a turn would render all that are ready: 2,000 clients at 2 ms each
 * make it 4 s long, and libuv accepts one connection per turn (since 1.45), so that probes on new connections wait for many turns.
 * A line also tells how long each has waited, which no count of requests in flight and no sampled delay does. Clients that give up
 * while they wait are let go without a page: under overload they are many.
 * @param limitMs milliseconds to wait at most; 0: nobody waits, and nobody is refused
 * @returns to be called once per request that costs something: whether it is better refused than served, perhaps after a while. Up to
 *   10 ms of pages per turn are told at once, so that a server with time to spare pays a clock reading and a `setImmediate` per turn
 */
export function createOverload(limitMs: number): (response: Answer) => boolean | Promise<boolean> {
  if (limitMs === 0) return () => false
  const burstMs = Math.min(BURST_MS, limitMs)
  const line: Waiting[] = []
  let isBusy = false
  let since = 0

  /** Between two turns. */
  function serveNext(): void {
    const now = performance.now()
    let next = line.shift()
    for (; next !== undefined && (next.response.closed || now - next.since > limitMs); next = line.shift())
      next.answer(true)
    isBusy = next !== undefined
    if (next === undefined) return
    since = now
    setImmediate(serveNext)
    next.answer(false)
  }

  return (response) => {
    const now = performance.now()
    if (!isBusy) {
      isBusy = true
      since = now
      setImmediate(serveNext)
    }
    if (line.length === 0 && now - since <= burstMs) return false
    return new Promise((answer) => line.push({ since: now, response, answer }))
  }
}
