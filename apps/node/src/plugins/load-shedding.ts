import type { ServerResponse } from 'node:http'
import { RETRY_AFTER } from '#shared/http/contract.ts'
import { HttpProblem } from '#shared/http/problem.ts'

/** @throws {HttpProblem} 503 while too many requests wait */
export async function shedLoad(
  response: ServerResponse,
  shouldShed: (response: ServerResponse) => boolean | Promise<boolean>,
): Promise<void> {
  if (!(await shouldShed(response))) return
  response.setHeader('retry-after', RETRY_AFTER)
  throw new HttpProblem(503)
}
