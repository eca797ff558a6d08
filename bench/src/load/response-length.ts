import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { request as requestTls } from 'node:https'
import { certificateCheck } from '@startgrid/cli/arguments.ts'
import { LoadError, type Target } from '@startgrid/loadgen'

/** Allowed to a single response, in milliseconds. */
const ASK_MS = 10_000

/**
 * Asks once.
 * @returns bytes of the response's body
 * @throws {LoadError} if there is no response with status 200
 */
export async function responseLength({ target, path }: { target: Target; path: string }): Promise<number> {
  const signal = AbortSignal.timeout(ASK_MS)
  const place = 'socketPath' in target ? target : { host: target.host, port: target.port }
  const asked = { ...place, path, agent: false, signal } as const
  const isSecure = !('socketPath' in target) && target.ca !== undefined
  const asking = isSecure ? requestTls({ ...asked, ...certificateCheck(target) }) : request(asked)
  try {
    const [response] = (await once(asking.end(), 'response')) as [IncomingMessage]
    let length = 0
    for await (const piece of response as AsyncIterable<Buffer>) length += piece.length
    if (response.statusCode === 200) return length
    throw new LoadError(`The response to ${path} has the status ${response.statusCode}.`)
  } catch (error) {
    if (error instanceof LoadError) throw error
    throw new LoadError(`There is no response to ${path}: ${(error as Error).message}.`)
  }
}
