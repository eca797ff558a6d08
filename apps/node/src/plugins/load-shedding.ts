import { HttpProblem } from '#shared/http/http-problem.ts'
import { RETRY_AFTER } from '#shared/http/overload.ts'
import type { Context } from '../context.ts'

/** For expensive routes. @throws {HttpProblem} 503 while too many requests wait */
export async function shedLoad({ response, shouldShed }: Context): Promise<void> {
  if (await shouldShed(response)) throw new HttpProblem(503, { headers: { 'retry-after': RETRY_AFTER } })
}
