import { defineMiddleware } from 'h3'
import { RETRY_AFTER } from '#shared/http/overload.ts'
import { createProblem } from '#shared/http/problem.ts'
import { sendProblem } from './errors.ts'

/** A class, because V8 keeps what a getter of an object literal refers to until a full garbage collection: here, the whole request. */
class Client {
  readonly #signal: AbortSignal

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  get closed(): boolean {
    return this.#signal.aborted
  }
}

/** For expensive routes: 503 while too many requests wait. */
export const shedLoad = defineMiddleware(async ({ context, req }, next) => {
  if (!(await context.shouldShed(new Client(req.signal)))) return next()
  return sendProblem(createProblem(503), { 'retry-after': RETRY_AFTER }) // not an error: it would be logged as a failure
})
