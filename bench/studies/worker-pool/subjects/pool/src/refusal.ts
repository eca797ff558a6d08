/**
 * The pool could not do it just now: 503 (RFC 9110 section 15.6.4), as of Go's `http.TimeoutHandler` and Fastify's
 * `handlerTimeout`. Not 504, which is a gateway's word about another server (section 15.6.5): our workers are a part of this one.
 */
export class PoolRefusal extends Error {
  override name = 'PoolRefusal'
  /** Seconds, for Retry-After: a queue that moves has moved on by then. */
  readonly retryAfter = 1
}

/** Nothing failed, too much was asked: no reason to log more than the response. */
export class PoolFull extends PoolRefusal {
  override name = 'PoolFull'

  constructor(limit: number) {
    super(`${limit} tasks wait for a worker: no more are taken`)
  }
}

/** The task's own failure, worth a line in the log. */
export class TaskTimeout extends PoolRefusal {
  override name = 'TaskTimeout'

  constructor(task: string, timeoutMs: number) {
    super(`the task '${task}' ran for over ${timeoutMs} ms: its worker was replaced`)
  }
}
