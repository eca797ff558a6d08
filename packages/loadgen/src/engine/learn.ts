import { createHash } from 'node:crypto'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { request as requestTls } from 'node:https'
import type { BodyExpectation, Expectation } from '../http/expectation.ts'
import { connectOptions, hostHeader, resolveTarget, secureOptions, type Target } from '../http/target.ts'
import { LoadError } from './load-error.ts'
import type { LearnPlan } from './messages.ts'
import type { LoadPlan } from './options.ts'

/**
 * Asks once for each path, by Node's own HTTP client, and expects all further responses to be the same.
 * @param expectation with `learn`
 * @returns the same with `body`
 * @throws {LoadError} if there is no response, or it has another status than expected
 */
export async function learn(
  { learn: _, status = 200, ...expectation }: Expectation,
  plan: LoadPlan,
  target: Target,
): Promise<Expectation> {
  const body: BodyExpectation[] = []
  for (const path of typeof plan.path === 'string' ? [plan.path] : plan.path)
    body.push(await firstResponse(path, status, plan, target))
  return { ...expectation, status, body }
}

/**
 * Asks once, and returns the response.
 * @returns length and hash of the body
 * @throws {LoadError} as `learn`, and if the target is out of reach
 */
export async function learnOne(plan: LearnPlan): Promise<BodyExpectation> {
  const target = await resolveTarget(plan.target, plan.reach)
  return firstResponse(plan.path, 200, { ...plan, connections: 1 }, target)
}

function firstResponse(
  path: string,
  status: number,
  plan: LoadPlan,
  target: Target,
): Promise<BodyExpectation> {
  const { promise, resolve, reject } = Promise.withResolvers<BodyExpectation>()
  const refuse = (what: string) => reject(new LoadError(`The first response to ${path} ${what}.`))
  const asking = ask(path, plan, target)
  asking.on('error', (error) => refuse(`did not come: ${error.message}`))
  asking.on('response', (response) => {
    if (response.statusCode !== status) {
      refuse(
        `has the status ${response.statusCode}, not ${status}: no other response can be compared with it`,
      )
      asking.destroy()
      return
    }
    digest(response).then(resolve, (error) => refuse(`broke off: ${(error as Error).message}`))
  })
  return promise
}

function ask(path: string, plan: LoadPlan, target: Target): ClientRequest {
  const { method = 'GET', headers = {}, body, timeoutMs = 5_000 } = plan
  const tls = secureOptions(plan.target)
  const asking = (tls === undefined ? request : requestTls)({
    ...('socketPath' in target ? target : connectOptions(target)),
    ...tls,
    path,
    method,
    headers: { host: hostHeader(plan.target), ...headers },
    agent: false,
    timeout: timeoutMs,
  })
  asking.on('timeout', () => asking.destroy(new Error(`nothing within ${timeoutMs} ms`)))
  return asking.end(body)
}

async function digest(response: IncomingMessage): Promise<BodyExpectation> {
  const hash = createHash('sha256')
  let length = 0
  for await (const piece of response as AsyncIterable<Buffer>) {
    hash.update(piece)
    length += piece.length
  }
  return { length, sha256: hash.digest('hex') }
}
