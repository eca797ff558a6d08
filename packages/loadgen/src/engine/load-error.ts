import { ForeseenError } from '@startgrid/cli/foreseen-error.ts'

/** A load that cannot be run as asked; the message is a whole sentence for the person who asked for it. */
export class LoadError extends ForeseenError {
  override name = 'LoadError'
}
