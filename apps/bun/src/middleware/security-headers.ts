import { SECURITY_HEADERS } from '#shared/security.ts'
import type { Middleware } from '../routes.ts'

const headers = Object.entries(SECURITY_HEADERS)

/** A header that a route sets itself stays. */
export const securityHeaders: Middleware = (next) => async (request, server) => {
  const response = await next(request, server)
  for (const [name, value] of headers) if (!response?.headers.has(name)) response?.headers.set(name, value)
  return response
}
