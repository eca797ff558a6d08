/** What a person can mend: the message is one sentence that says what happened and what to do. Commands print it without a stack. */
export class ForeseenError extends Error {
  override name = 'ForeseenError'
}
