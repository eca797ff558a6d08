/** A pool that could not be measured; the message is a sentence. */
export class PoolError extends Error {
  override name = 'PoolError'
}
