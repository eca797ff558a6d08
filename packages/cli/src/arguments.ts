import { ForeseenError } from './foreseen-error.ts'

/** The command line cannot be used as it was typed; the message is a sentence that says what to change. */
export class UsageError extends ForeseenError {
  override name = 'UsageError'
}

/** The names of a list such as `direct, nginx`. */
export function split(list: string): string[] {
  return list.split(',').map((name) => name.trim())
}
