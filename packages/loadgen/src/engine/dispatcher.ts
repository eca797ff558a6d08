import type { Connection } from '../http/connection.ts'
import type { Pool } from './pool.ts'

/** Decides when requests are sent, and on which connection. Times are `performance.now()`. */
export interface Dispatcher {
  /** Sends the requests that are due and find a connection. Call it on every turn of the event loop. */
  dispatch(now: number): void
  /** A connection received a response, and is free for another request. */
  freed(connection: Connection, now: number): void
  /** Drops unsent requests that were due before `time`. @returns when they were due */
  expired(time: number): number[]
  /** Requests that are due and unsent. */
  readonly waiting: number
  /** No more requests will become due. */
  readonly over: boolean
}

/** What a dispatcher calls on the load. */
export interface Line {
  /** Sends a request. */
  send(connection: Connection, intended: number, now: number): void
  /** Open loop: the polling loop handles a request. @param now the time, never before `due` */
  reached(due: number, now: number): void
}

/** When requests are sent and counted: `performance.now()`. */
export interface Schedule {
  /** The end of the warm-up. Requests that are due later are counted. */
  from: number
  /** The end of the load. */
  until: number
}

export interface DispatcherOptions {
  pool: Pool
  line: Line
  schedule: Schedule
}
