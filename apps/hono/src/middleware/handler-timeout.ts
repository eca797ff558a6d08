import { createMiddleware } from 'hono/factory'
import { timeout } from 'hono/timeout'
import type { Config } from '#shared/config.ts'
import { limitSilence } from '#shared/handler-timeout.ts'
import { SECURITY_HEADERS } from '#shared/security.ts'
import type { Env } from '../forwarded.ts'
import { throwError } from './errors.ts'

/** 503 for a handler that is silent. `timeout()` of Hono, 504, is for runtimes that cannot tell if bytes still come or go. */
export const limitTime = ({ HANDLER_TIMEOUT_MS }: Config) => {
  const limit = timeout(HANDLER_TIMEOUT_MS)
  return createMiddleware<Env>(async (c, next) => {
    const { outgoing } = c.env
    if (outgoing)
      limitSilence(outgoing, HANDLER_TIMEOUT_MS, () => {
        const own = Object.fromEntries(c.res.headers)
        return { ...SECURITY_HEADERS, 'x-request-id': c.get('requestId'), ...own }
      })
    await (outgoing ? next() : limit(c, next)).catch(throwError)
    if (!c.finalized) throw new Error('Did you forget to return a Response?')
  })
}
