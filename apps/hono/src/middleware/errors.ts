import type { ErrorHandler, HonoRequest } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { BODY_HEADERS, isAbort, PROBLEM, toProblem } from '#shared/problem.ts'

/** Errors are problem details (RFC 9457). The cause of a failure is in the log only. */
export const onError: ErrorHandler = async (error, c) => {
  const isOwn = error instanceof HTTPException
  const known = (await isBrokenBody(error, c.req)) ? { status: 400, expose: true } : {}
  const { status, headers, problem, level } = toProblem(isOwn ? expose(error) : error, known)
  if (level && !isAbort(error, c.req.raw.signal)) c.get('log')[level]({ err: error }, 'failed')
  for (const name of BODY_HEADERS) c.header(name)
  // The adapter closes the connection of a body that it has not read within 500 ms, and the next request would be lost.
  if (status === 413) c.header('connection', 'close')
  return c.json(problem, status as ContentfulStatusCode, { ...headers, 'content-type': PROBLEM })
}

/** Whether `c.req.json()` failed, by the client's fault. JSON of an upstream may be broken as well. */
async function isBrokenBody(error: Error, req: HonoRequest): Promise<boolean> {
  if (!(error instanceof SyntaxError) || req.bodyCache.text === undefined) return false
  try {
    JSON.parse(await req.text())
    return false
  } catch (own) {
    return Object(own).message === error.message
  }
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
  throw thrown instanceof Error ? thrown : new Error(`A handler threw ${typeof thrown}.`, { cause: thrown })
}
