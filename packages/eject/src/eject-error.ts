/** Why no project was made. The message is a sentence for the person who asked for it. */
export class EjectError extends Error {
  override name = 'EjectError'
}
