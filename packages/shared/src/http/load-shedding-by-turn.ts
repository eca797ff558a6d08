import { createQueueWatch } from './overload.ts'

/** Bun reads up to 1,024 sockets per turn of its event loop. After a turn that is nearly full, more requests wait. */
const FULL_TURN = 900

/**
 * Decides at once whether to refuse a page, for Bun. Bun closes a connection that receives another request before the response is ready
 * (https://github.com/oven-sh/bun/pull/38128), so pages cannot wait in line as in `load-shedding.ts`.
 *
 * All requests of a turn of the event loop had arrived when the turn began, so they have waited for as long as it has lasted. Pages after
 * the limit are refused, which is cheap, and the next turn begins with a short queue. A short pause is tolerated: see `createQueueWatch`.
 * @param limitMs milliseconds; 0: never refuse
 * @param clock in milliseconds
 * @returns a function to call once per expensive request. It costs a clock reading, and one `setImmediate` per turn
 */
export function createTurnLoadShedder(
  limitMs: number,
  clock: () => number = () => performance.now(),
): () => boolean {
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

  /** Runs between two turns. While a turn is pending, the loop does not sleep, so all the time until then is work. */
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
    // Clients that retry at once keep a turn from ending. Without this, the server would refuse for longer than it serves.
    begin(now)
    return false
  }
}
