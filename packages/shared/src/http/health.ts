/** Liveness and readiness, in the media type of draft-inadarei-api-health-check. */

export interface Health {
  /** True after `drain()`: `/readyz` fails and every response says `connection: close`. */
  readonly draining: boolean
  /** Aborted by `drain()`. A stream that has no end of its own, such as server-sent events, ends then. */
  readonly signal: AbortSignal
  /** Called once, when the process is told to stop. */
  drain(): void
}

export function createHealth(): Health {
  const controller = new AbortController()
  // A plain field: every request reads it.
  const health = { draining: false, signal: controller.signal, drain }
  return health

  function drain(): void {
    health.draining = true
    controller.abort()
  }
}

export const PASS = '{"status":"pass"}'
export const FAIL = '{"status":"fail"}'

/** Orchestrators call these every few seconds, so they are not logged. */
export function isProbe(target: string): boolean {
  return target === '/livez' || target === '/readyz'
}
