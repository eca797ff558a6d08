/** The `retry-after` of a refused page, in seconds. A person takes longer to reload, and by then the queue is gone. */
export const RETRY_AFTER = '1'

/** Milliseconds for which every wait must be above the target before the server counts as overloaded. */
export const STANDING_MS = 100

/**
 * Tells overload from a short pause, as CoDel does (RFC 8289 section 3.2). The queue after a pause drains; the queue of an overload stays.
 * @param targetMs milliseconds that a request may wait
 * @returns a function to call with the time and the wait of each request that leaves the queue. It returns whether even the shortest wait
 *   of the last 100 ms was above the target
 */
export function createQueueWatch(targetMs: number): (waitMs: number, now: number) => boolean {
  let aboveSince: number | undefined
  return (waitMs, now) => {
    if (waitMs <= targetMs) aboveSince = undefined
    else aboveSince ??= now
    return aboveSince !== undefined && now - aboveSince >= STANDING_MS
  }
}
