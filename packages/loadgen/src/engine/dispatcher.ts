import type { Connection } from '../http/connection.ts'
import type { Pacer } from './pacer.ts'
import type { Pool } from './pool.ts'

/** Decides when requests are sent, and on which connection. Times are `performance.now()`. */
export interface Dispatcher {
  /** Sends what is due and finds a connection. To be called at every turn of the event loop. */
  dispatch(now: number): void
  /** A connection answered and has room for another request. */
  freed(connection: Connection, now: number): void
  /** A request was not answered because the connection ended properly before: it is to be sent again. */
  returned(intended: number): void
  /** A connection could not be opened, on which no request waited. */
  refused(now: number): void
  /** Forgets requests that are still unsent. @returns when they were due, those before `time` only */
  expired(time: number): number[]
  /** Requests that are due and unsent. */
  readonly waiting: number
  /** Nothing more will become due. */
  readonly over: boolean
}

/** What dispatchers do to the load. */
export interface Line {
  /** Sends a request. */
  send(connection: Connection, intended: number, now: number): void
  /** Open loop: the polling loop has come to a request. @param now when, which is never before `due` */
  reached(due: number, now: number): void
}

/** When requests are sent and counted: `performance.now()`. */
export interface Schedule {
  /** When the load began. */
  start: number
  /** The end of the warm-up. What is due from here on counts. */
  from: number
  /** The end of the duration; infinite until the last request is due if a number of requests ends the load. */
  until: number
  /** How many are to be counted; infinite if the duration ends the load. */
  requests: number
}

export interface DispatcherOptions {
  pacer: Pacer
  pool: Pool
  line: Line
  schedule: Schedule
}
