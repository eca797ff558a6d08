import { setTimeout } from 'node:timers/promises'
import { type Product, recommend } from './product.ts'

/**
 * Recommends as a slow back end would. Only the server calls it.
 * @param ms milliseconds until the products are there; with 0 the page needs no promise
 * @param signal clears the timer and rejects the promise
 */
export function recommendSlowly(
  items: number,
  ms: number,
  signal?: AbortSignal,
): Promise<Product[]> | undefined {
  if (ms === 0) return undefined
  const promise = setTimeout(ms, recommend(items), signal === undefined ? {} : { signal })
  // The client may leave before React reads the promise. Without this, the rejection would be unhandled.
  promise.catch(() => {})
  return promise
}
