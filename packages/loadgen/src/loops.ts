import type { Random } from '@startgrid/stats/random.ts'
import type { Connection } from './connection.ts'
import { type Pool, Queue } from './pool.ts'
import type { Schedule, Tally } from './tally.ts'

/** Decides when requests are sent, and on which connection. Times are `performance.now()`. */
export interface Loop {
  /** Sends the requests that are due and find a connection. Call it on every turn of the event loop. */
  dispatch(now: number): void
  /** A connection received a response, and is free for another request. */
  freed(connection: Connection, now: number): void
  /** Gives up unsent requests that were due before `time`. */
  expire(time: number): void
  /** Whether nothing more will be sent. */
  isOver(now: number): boolean
}

/** What a loop works with. */
interface Means {
  pool: Pool
  schedule: Readonly<Schedule>
  tally: Tally
  /** Sends a request. @param intended when it was due */
  send(connection: Connection, intended: number, now: number): void
}

/** Sends a request whenever a connection is free, so the server determines the rate. */
export function closedLoop({ pool, schedule, send }: Means): Loop {
  const isOver = (now: number) => now >= schedule.until
  return {
    dispatch: (now) => {
      while (!isOver(now)) {
        const connection = pool.take()
        if (connection === undefined) return
        send(connection, now, now)
      }
    },
    freed: (connection, now) => {
      if (isOver(now)) pool.release(connection)
      else send(connection, now, now)
    },
    expire: () => {},
    isOver,
  }
}

/**
 * Sends requests when they are due, whether or not earlier ones have a response. They wait in line if all connections are busy.
 * @param draw tells when the next request is due
 */
export function openLoop({ pool, schedule, tally, send }: Means, draw: () => number): Loop {
  /** The due times of requests that wait for a connection. */
  const backlog = new Queue<number>()
  /** When the next request is due; infinite after the last. */
  let next = 0
  const drawNext = () => {
    const due = draw()
    next = due < schedule.until ? due : Number.POSITIVE_INFINITY
  }
  const dispatch = (now: number) => {
    while (backlog.length > 0) {
      const connection = pool.take()
      if (connection === undefined) break
      send(connection, backlog.shift() ?? now, performance.now())
    }
    for (let clock = now; next <= clock; clock = performance.now()) {
      tally.reached(next, clock)
      const connection = backlog.length === 0 ? pool.take() : undefined
      if (connection === undefined) backlog.push(next)
      else send(connection, next, clock)
      drawNext()
    }
  }
  drawNext()
  return {
    dispatch,
    freed: (connection, now) => {
      pool.release(connection)
      dispatch(now)
    },
    expire: (time) => {
      while ((backlog.peek() ?? time) < time) tally.failed('timeout', backlog.shift() ?? time)
    },
    isOver: () => next === Number.POSITIVE_INFINITY && backlog.length === 0,
  }
}

/**
 * When requests of many independent users are due: a Poisson process, whose gaps are exponentially distributed and do not depend on each
 * other. Gaps are drawn by inversion, −ln(1 − u) / rate (Devroye 1986, Non-Uniform Random Variate Generation, II.2).
 * @param rate requests per second, on average
 * @param start when the process begins, in milliseconds: the first request is due a gap later
 * @returns what tells when the next one is due
 */
export function poisson(rate: number, random: Random, start = 0): () => number {
  const meanGap = 1000 / rate
  let at = start
  return () => {
    at -= Math.log(1 - random()) * meanGap
    return at
  }
}
