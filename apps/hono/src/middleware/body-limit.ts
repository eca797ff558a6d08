import { bodyLimit } from 'hono/body-limit'
import { createMiddleware } from 'hono/factory'
import { matchedRoutes } from 'hono/route'
import { findTargetHandler } from 'hono/utils/handler'

/**
 * 413 for a larger body. A route, or a part of the app, replaces this limit by its own `bodyLimit()`, which is found by its name.
 * @param maxSize bytes
 */
export function limitBody(maxSize: number) {
  const limit = bodyLimit({ maxSize })

  return createMiddleware((c, next) => {
    // `bodyLimit` reads the body, so the Node adapter would have to create a complete Request for it.
    const hasNoBody = c.req.method === 'GET' || c.req.method === 'HEAD'
    if (hasNoBody || matchedRoutes(c).some(({ handler }) => isLimit(handler))) return next()
    return limit(c, next)
  })
}

function isLimit(handler: Parameters<typeof findTargetHandler>[0]): boolean {
  return findTargetHandler(handler).name === bodyLimit.name
}
