import { inspect } from 'node:util'
import type { ErrorHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { BODY_HEADERS, PROBLEM, toProblem } from '#shared/problem.ts'

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. */
export const onError: ErrorHandler = (error, c) => {
  const { status, headers, problem } = toProblem(error instanceof HTTPException ? expose(error) : error)
  if (status >= 500 && !c.req.raw.signal.aborted) c.get('log').error({ err: error }, 'failed')
  for (const name of BODY_HEADERS) c.header(name)
  // The adapter closes the connection of a body that it has not read within 500 ms, and the next request would be lost.
  if (status === 413) c.header('connection', 'close')
  return c.json(problem, status as ContentfulStatusCode, { ...headers, 'content-type': PROBLEM })
}

/** Headers are those of the response that middleware makes, such as `www-authenticate` of `basicAuth()`. */
function expose({ status, message, res }: HTTPException) {
  const headers = [...(res?.headers ?? [])].filter(([name]) => !BODY_HEADERS.includes(name))
  const cookies = res?.headers.getSetCookie() ?? []
  const own = { ...Object.fromEntries(headers), ...(cookies.length > 1 && { 'set-cookie': cookies }) }
  return { expose: true, status, message: message || undefined, headers: own }
}

/** Hono calls `onError` only for an Error (https://github.com/honojs/hono/issues/667). */
export function throwError(thrown: unknown): never {
  throw thrown instanceof Error ? thrown : new Error(`A handler threw ${inspect(thrown)}.`)
}
