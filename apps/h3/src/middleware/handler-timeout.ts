import type { ServerResponse } from 'node:http'
import { defineMiddleware } from 'h3'
import { limitSilence, replaceLate } from '#shared/handler-timeout.ts'
import { createProblem, PROBLEM } from '#shared/problem.ts'
import { SECURITY_HEADERS } from '#shared/security.ts'

/** 503 for a handler that is silent. */
export const limitTime = defineMiddleware(({ context, res, runtime }, next) => {
  const { HANDLER_TIMEOUT_MS } = context.config
  const response = runtime?.node?.res as ServerResponse | undefined
  if (response)
    return limitSilence(response, HANDLER_TIMEOUT_MS, () => {
      const own = Object.fromEntries(res.errHeaders)
      return { ...SECURITY_HEADERS, 'x-request-id': context.requestId, ...own }
    })
  const value = next()
  const headers = { 'content-type': PROBLEM, 'cache-control': 'no-store' }
  const replace = () => Response.json(createProblem(503), { status: 503, headers })
  return value instanceof Promise ? replaceLate(value, HANDLER_TIMEOUT_MS, replace) : value
})
