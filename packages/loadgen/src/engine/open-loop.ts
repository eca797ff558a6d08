import type { Connection } from '../http/connection.ts'
import type { Dispatcher, DispatcherOptions, Line, Schedule } from './dispatcher.ts'
import type { Pool } from './pool.ts'
import { Queue } from './queue.ts'

/** Sends requests when they are due, whether or not earlier ones have a response. They wait in line if all connections are busy. */
export class OpenLoop implements Dispatcher {
  readonly #draw: () => number
  readonly #pool: Pool
  readonly #line: Line
  readonly #schedule: Schedule
  /** The due times of requests that wait for a connection. */
  readonly #backlog = new Queue<number>()
  /** When the next request is due; infinite after the last. */
  #due: number

  /** @param draw tells when the next request is due */
  constructor({ pool, line, schedule }: DispatcherOptions, draw: () => number) {
    this.#draw = draw
    this.#pool = pool
    this.#line = line
    this.#schedule = schedule
    this.#due = this.#next()
  }

  get waiting(): number {
    return this.#backlog.length
  }

  get over(): boolean {
    return this.#due === Number.POSITIVE_INFINITY
  }

  dispatch(now: number): void {
    if (this.#backlog.length > 0) this.#sendBacklog(now)
    let clock = now
    while (this.#due <= clock) {
      this.#reach(this.#due, clock)
      this.#due = this.#next()
      clock = performance.now()
    }
  }

  freed(connection: Connection, now: number): void {
    this.#pool.release(connection)
    this.dispatch(now)
  }

  expired(time: number): number[] {
    const expired: number[] = []
    for (let due = this.#backlog.peek(); due !== undefined && due < time; due = this.#backlog.peek()) {
      expired.push(due)
      this.#backlog.shift()
    }
    return expired
  }

  #reach(due: number, now: number): void {
    this.#line.reached(due, now)
    const connection = this.#backlog.length === 0 ? this.#pool.take() : undefined
    if (connection === undefined) this.#backlog.push(due)
    else this.#line.send(connection, due, now)
  }

  #sendBacklog(now: number): void {
    while (this.#backlog.length > 0) {
      const connection = this.#pool.take()
      if (connection === undefined) return
      this.#line.send(connection, this.#backlog.shift() ?? now, performance.now())
    }
  }

  #next(): number {
    const due = this.#draw()
    return due < this.#schedule.until ? due : Number.POSITIVE_INFINITY
  }
}
