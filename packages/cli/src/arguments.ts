/** What a person can mend: the message is one sentence that says what happened and what to do. Commands print it without a stack. */
export class ForeseenError extends Error {
  override name = 'ForeseenError'
}

/** The command line cannot be used as it was typed; the message is a sentence that says what to change. */
export class UsageError extends ForeseenError {
  override name = 'UsageError'
}

/** The names of a list such as `direct, nginx`. */
export function split(list: string): string[] {
  return list.split(',').map((name) => name.trim())
}
