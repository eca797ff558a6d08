/** Liveness and readiness, in the media type of draft-inadarei-api-health-check. */

export interface Health {
  /** Set once, when the process was told to stop: `/readyz` fails and every answer says `connection: close`. */
  draining: boolean
}

export function createHealth(): Health {
  return { draining: false }
}

export const PASS = '{"status":"pass"}'
export const FAIL = '{"status":"fail"}'

/** Orchestrators ask these every few seconds: they are answered, but not logged. */
export function isProbe(target: string): boolean {
  return target === '/livez' || target === '/readyz'
}
