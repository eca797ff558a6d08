/** Words that cannot be used; the message is a sentence. */
export class UsageError extends Error {
  override name = 'UsageError'
}
