/** Liveness and readiness, in the media type of draft-inadarei-api-health-check. */

export interface Health {
  /** True after `drain()`: `/readyz` fails and every response says `connection: close`. */
  readonly draining: boolean
  /** Aborted by `drain()`. It ends streams that would never end by themselves, such as server-sent events. */
  readonly signal: AbortSignal
  /** Called once, when the process is told to stop. */
  drain(): void
}

export function createHealth(): Health {
  const controller = new AbortController()
  // A plain field is fast: every request reads it.
  const health = { draining: false, signal: controller.signal, drain }
  return health

  function drain(): void {
    health.draining = true
    controller.abort()
  }
}

export const PASS = '{"status":"pass"}'
export const FAIL = '{"status":"fail"}'

/** Orchestrators request these paths every few seconds, so they are not logged. */
export function isProbe(target: string): boolean {
  return target === '/livez' || target === '/readyz'
}
