import type { Request } from './request.ts'

/**
 * Whether a page has waited for longer than MAX_QUEUE_WAIT_MS. NGINX runs a handler to its end, and reads its clock ($msec, in seconds) at the
 * start of each turn of its event loop. All requests of a turn had arrived by then, so the age of the turn is their wait.
 */
export function waitsTooLong({ variables }: Request): boolean {
  const limit = Number(variables.max_queue_wait_ms)
  return limit > 0 && Date.now() - Number(variables.msec) * 1000 > limit
}
