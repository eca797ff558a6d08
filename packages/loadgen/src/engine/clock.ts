/**
 * Milliseconds of a clock that all threads share. `performance.now()` begins anew in each thread; this one is the system's monotonic
 * clock (https://nodejs.org/api/process.html#processhrtimetime).
 */
export function sharedNow(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}
