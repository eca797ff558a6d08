import { ForeseenError } from '@startgrid/cli/foreseen-error.ts'

/** Why no project was made. The message is a sentence for the person who asked for it. */
export class EjectError extends ForeseenError {
  override name = 'EjectError'
}
