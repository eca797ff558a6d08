/**
 * Milliseconds of a clock that all processes of a machine share, because `performance.now()` starts at 0 in each of them. It is the system's
 * monotonic clock (https://nodejs.org/api/process.html#processhrtimetime).
 */
export function sharedNow(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}
