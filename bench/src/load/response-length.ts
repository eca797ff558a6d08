import { LoadError } from '@startgrid/loadgen/plan.ts'
import { ask } from '@startgrid/wire/client.ts'
import { NoResponse } from '@startgrid/wire/reader.ts'
import type { Target } from '@startgrid/wire/target.ts'

/** Allowed to a single response, in milliseconds. */
const ASK_MS = 10_000

/**
 * Asks once.
 * @returns bytes of the response's body
 * @throws {LoadError} if there is no response with status 200
 */
export async function responseLength({ target, path }: { target: Target; path: string }): Promise<number> {
  try {
    const { status, body } = await ask(target, { target: path }, { timeoutMs: ASK_MS })
    if (status === 200) return body.length
    throw new LoadError(`The response to ${path} has the status ${status}.`)
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error
    throw new LoadError(`There is no response to ${path}: ${error.message}.`)
  }
}
