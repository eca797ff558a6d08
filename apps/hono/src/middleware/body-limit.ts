import type { HonoRequest } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { createMiddleware } from 'hono/factory'
import { HTTPException } from 'hono/http-exception'
import { matchedRoutes } from 'hono/route'

/**
 * 413 for a larger body, and 400 for one that is malformed, also in a route without a validator. A `bodyLimit()` of a route replaces the
 * limit: it is known by the name of its function, which Hono's `showRoutes()` prints.
 * @param maxSize bytes
 */
export function limitBody(maxSize: number) {
  const limit = bodyLimit({ maxSize })

  return createMiddleware((c, next) => {
    // `bodyLimit` reads the body, so the Node adapter would have to create a complete Request for it.
    const hasNoBody = c.req.method === 'GET' || c.req.method === 'HEAD'
    if (hasNoBody) return next()
    refuseMalformed(c.req)
    return matchedRoutes(c).some(({ handler }) => handler.name === bodyLimit.name) ? next() : limit(c, next)
  })
}

/** The error of a body that does not parse looks like an error of the app. This turns it into a 400. */
function refuseMalformed(request: HonoRequest): void {
  const refuse = (error: unknown): never => {
    const isMalformed = error instanceof SyntaxError || error instanceof TypeError
    throw isMalformed ? new HTTPException(400, { message: 'The body is malformed.', cause: error }) : error
  }
  const { json, formData, parseBody } = request
  Object.assign(request, {
    json: () => json.call(request).catch(refuse),
    formData: () => formData.call(request).catch(refuse),
    parseBody: (...options: Parameters<typeof parseBody>) => parseBody.apply(request, options).catch(refuse),
  })
}
