import { setTimeout } from 'node:timers/promises'

/**
 * A value that comes after some time, as from a slow back end.
 * @param signal clears the timer and rejects the promise
 */
export function delayed<T>(value: T, ms: number, signal?: AbortSignal): Promise<T> {
  const promise = setTimeout(ms, value, signal === undefined ? {} : { signal })
  // A client may be gone before React looks at the promise; nobody would have caught its rejection then.
  promise.catch(() => {})
  return promise
}
