import { HttpProblem } from '#shared/http/http-problem.ts'
import type { NginxRequest } from './handler.ts'

/**
 * NGINX runs a handler to its end, so pages cannot wait in line as in `#shared/http/load-shedding.ts`. But it reads its clock ($msec,
 * seconds) at the start of each turn of its event loop. All requests of a turn had arrived by then, so the age of the turn is their wait.
 * @throws {HttpProblem} 503 after MAX_QUEUE_WAIT_MS
 */
export function shedLoad({ variables }: NginxRequest): void {
  const { msec, max_queue_wait_ms: limit } = variables
  if (limit === '0' || Date.now() - Number(msec) * 1000 <= Number(limit)) return
  throw new HttpProblem(503, { headers: { 'retry-after': '1' } })
}
