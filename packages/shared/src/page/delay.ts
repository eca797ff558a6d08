import { setTimeout } from 'node:timers/promises'

/**
 * A value that arrives after some time, as from a slow back end.
 * @param signal clears the timer and rejects the promise
 */
export function delayed<T>(value: T, ms: number, signal?: AbortSignal): Promise<T> {
  const promise = setTimeout(ms, value, signal === undefined ? {} : { signal })
  // The client may leave before React reads the promise. Without this, the rejection would be unhandled.
  promise.catch(() => {})
  return promise
}
