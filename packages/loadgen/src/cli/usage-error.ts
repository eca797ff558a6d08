/** The command line cannot be understood; the message is a whole sentence. */
export class UsageError extends Error {
  override name = 'UsageError'
}
