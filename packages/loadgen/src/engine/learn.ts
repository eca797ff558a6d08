import { request } from 'node:http'
import { request as requestTls } from 'node:https'
import type { BodyExpectation } from '../http/expectation.ts'
import { connectOptions, hostHeader, resolveTarget, secureOptions } from '../http/target.ts'
import { LoadError } from './load-error.ts'
import type { LearnPlan } from './messages.ts'

/**
 * Asks once, by Node's own HTTP client.
 * @returns length of the body
 * @throws {LoadError} if there is no response with status 200, or the target is out of reach
 */
export async function learn(plan: LearnPlan): Promise<BodyExpectation> {
  const { path, timeoutMs = 5_000 } = plan
  const target = await resolveTarget(plan.target, plan.reach)
  const tls = secureOptions(plan.target)
  const { promise, resolve, reject } = Promise.withResolvers<BodyExpectation>()
  const refuse = (what: string) => reject(new LoadError(`The first response to ${path} ${what}.`))
  const asking = (tls === undefined ? request : requestTls)({
    ...('socketPath' in target ? target : connectOptions(target)),
    ...tls,
    path,
    headers: { host: hostHeader(plan.target) },
    agent: false,
    timeout: timeoutMs,
  })
  asking.on('timeout', () => asking.destroy(new Error(`nothing within ${timeoutMs} ms`)))
  asking.on('error', (error) => refuse(`did not come: ${error.message}`))
  asking.on('response', (response) => {
    let length = 0
    response.on('data', (piece: Buffer) => {
      length += piece.length
    })
    response.on('error', (error) => refuse(`broke off: ${error.message}`))
    response.on('end', () =>
      response.statusCode === 200 ? resolve({ length }) : refuse(`has the status ${response.statusCode}`),
    )
  })
  asking.end()
  return promise
}
