/**
 * What a page that is refused for overload says: seconds, for `retry-after`. Sooner than a person would reload, and late enough for
 * the queue to be gone.
 */
export const RETRY_AFTER = '1'

/**
 * Tells whether the event loop is so far behind that a request is better refused than served. Pages are rendered on one thread,
 * one at a time, so that requests in flight cannot be counted: they wait in the kernel. But all that a turn of the loop serves were
 * there when it began, so that they have waited for as long as it has lasted. What comes after the limit is refused, cheaply, and
 * the next turn begins with a short queue again. At three times the capacity that keeps 0.83 of it (node, 50 items, limit 100 ms).
 * A mean delay that is sampled would refuse everything or nothing for a whole interval.
 * @param limitMs milliseconds; 0: never
 * @param fullTurn how many requests tell that a turn did not serve all that were ready, so that the next one goes on with them
 * @returns to be called once per request that costs something: a clock reading, and `setImmediate` once per turn
 */
export function createOverload(limitMs: number, fullTurn = Number.POSITIVE_INFINITY): () => boolean {
  if (limitMs === 0) return () => false
  let since = 0
  let refusingSince: number | undefined
  let requests = 0
  let isBusy = false

  function begin(now: number): void {
    since = now
    refusingSince = undefined
  }

  /** Between two turns. While there is one to come, the loop does not sleep: all the time until then is work. */
  function endTurn(): void {
    isBusy = requests > 0
    if (!isBusy) return
    if (requests < fullTurn) begin(performance.now())
    requests = 0
    setImmediate(endTurn)
  }

  return () => {
    requests++
    const now = performance.now()
    if (!isBusy) {
      isBusy = true
      begin(now)
      setImmediate(endTurn)
    }
    if (now - since <= limitMs) return false
    refusingSince ??= now
    if (now - refusingSince <= limitMs) return true
    // Clients that come back at once keep a turn from ending: refusing for longer than serving would serve nobody.
    begin(now)
    return false
  }
}
