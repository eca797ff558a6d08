import type { Connection } from '../http/connection.ts'
import type { Dispatcher, DispatcherOptions, Line, Schedule } from './dispatcher.ts'
import type { Pacer } from './pacer.ts'
import type { Pool } from './pool.ts'

/** Sends a request whenever a connection has room for one. */
export class ClosedLoop implements Dispatcher {
  readonly waiting = 0
  over = false
  readonly #pacer: Pacer
  readonly #pool: Pool
  readonly #line: Line
  readonly #schedule: Schedule
  #sent = 0
  #left: number

  constructor({ pacer, pool, line, schedule }: DispatcherOptions) {
    this.#pacer = pacer
    this.#pool = pool
    this.#line = line
    this.#schedule = schedule
    this.#left = schedule.requests
  }

  dispatch(now: number): void {
    while (this.#wants(now)) {
      const connection = this.#pool.take()
      if (connection === undefined) return
      this.#send(connection, now)
    }
  }

  freed(connection: Connection, now: number): void {
    if (this.#wants(now)) this.#send(connection, now)
    else this.#pool.release(connection)
  }

  /** Nothing to do: the connection is replaced, and then has room again. */
  returned(intended: number): void {
    if (intended >= this.#schedule.from) this.#left++
    this.over = false
  }

  /** Counts as a request, so that a load with a number of requests ends even if the server never responds. */
  refused(now: number): void {
    if (now >= this.#schedule.from) this.#left--
  }

  expired(): number[] {
    return []
  }

  #wants(now: number): boolean {
    this.over = now >= this.#schedule.until || this.#left <= 0
    return !this.over
  }

  #send(connection: Connection, now: number): void {
    const due = this.#pacer.due(this.#sent++, now)
    if (due >= this.#schedule.from) this.#left--
    this.#line.send(connection, due, now)
  }
}
