import type { Connection } from '../http/connection.ts'
import type { Dispatcher, DispatcherOptions, Line, Schedule } from './dispatcher.ts'
import type { Pool } from './pool.ts'

/** Sends a request whenever a connection is free, so the server determines the rate. */
export class ClosedLoop implements Dispatcher {
  readonly waiting = 0
  over = false
  readonly #pool: Pool
  readonly #line: Line
  readonly #schedule: Schedule

  constructor({ pool, line, schedule }: DispatcherOptions) {
    this.#pool = pool
    this.#line = line
    this.#schedule = schedule
  }

  dispatch(now: number): void {
    while (this.#wants(now)) {
      const connection = this.#pool.take()
      if (connection === undefined) return
      this.#line.send(connection, now, now)
    }
  }

  freed(connection: Connection, now: number): void {
    if (this.#wants(now)) this.#line.send(connection, now, now)
    else this.#pool.release(connection)
  }

  expired(): number[] {
    return []
  }

  #wants(now: number): boolean {
    this.over = now >= this.#schedule.until
    return !this.over
  }
}
