import { createQueueWatch } from './load-shedding.ts'

/** Bun looks at 1,024 sockets per turn of its event loop. After a turn (nearly) that full, more wait. */
const FULL_TURN = 900

/**
 * Tells at once whether a page is better refused than served, for Bun: it closes a connection on which another request came before an
 * answer was ready (https://github.com/oven-sh/bun/pull/38128), so that no page can wait in line as in `load-shedding.ts`. But all that a turn
 * of the event loop serves were there when it began, so that they have waited for as long as it has lasted. What comes after the limit
 * is refused, cheaply, and the next turn begins with a short queue again.
 * A hiccup is not a reason: see `createQueueWatch`.
 * @param limitMs milliseconds; 0: never
 * @param clock in milliseconds
 * @returns to be called once per request that costs something: a clock reading, and `setImmediate` once per turn
 */
export function createTurnAge(limitMs: number, clock: () => number = () => performance.now()): () => boolean {
  if (limitMs === 0) return () => false
  let since = 0
  let refusingSince: number | undefined
  let requests = 0
  let isBusy = false
  const isStanding = createQueueWatch(limitMs)

  function begin(now: number): void {
    since = now
    refusingSince = undefined
  }

  /** Between two turns. While there is one to come, the loop does not sleep: all the time until then is work. */
  function endTurn(): void {
    isBusy = requests > 0
    if (!isBusy) return
    if (requests < FULL_TURN) begin(clock())
    requests = 0
    setImmediate(endTurn)
  }

  return () => {
    requests++
    const now = clock()
    if (!isBusy) {
      isBusy = true
      begin(now)
      setImmediate(endTurn)
    }
    if (!isStanding(now - since, now)) return false
    refusingSince ??= now
    if (now - refusingSince <= limitMs) return true
    // Clients that come back at once keep a turn from ending: refusing for longer than serving would serve nobody.
    begin(now)
    return false
  }
}
