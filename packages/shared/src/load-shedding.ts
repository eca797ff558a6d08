import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Busy } from './problem.ts'

/** Milliseconds of expensive requests per turn of the event loop. Further ones wait, so that cheap ones are served between them. */
const BURST_MS = 10

let busySince: number | undefined
let waiting = 0
let line: Promise<unknown> = Promise.resolve()

/**
 * Lets an expensive request, such as a page, wait for its turn: one per turn of the event loop. libuv accepts one connection per turn, so
 * without this line a health check on a new connection would wait for many pages.
 * @param maxMs milliseconds that it may wait; 0: it does not wait
 * @returns whether it waited longer, so that it should be refused
 */
export async function waitsTooLong(maxMs: number): Promise<boolean> {
  if (maxMs === 0) return false
  const since = performance.now()
  if (busySince === undefined) {
    busySince = since
    setImmediate(() => {
      busySince = undefined
    })
  }
  if (waiting === 0 && since - busySince <= BURST_MS) return false
  waiting++
  line = line.then(() => nextTurn())
  await line
  waiting--
  return performance.now() - since > maxMs
}

/**
 * For routes whose requests hold much memory, such as uploads. Call what it returns with each response before the body is read.
 * @throws {Busy} while `max` requests are under way
 */
export function limitConcurrency(max: number) {
  let underWay = 0
  return (response: Pick<ServerResponse, 'closed' | 'once'>): void => {
    if (underWay >= max) throw new Busy()
    if (response.closed) return // the client has left
    underWay++
    response.once('close', () => underWay--)
  }
}
