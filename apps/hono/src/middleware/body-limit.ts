import { bodyLimit } from 'hono/body-limit'
import { createMiddleware } from 'hono/factory'
import { HttpProblem } from '#shared/http/problem.ts'

/**
 * 413 for a larger body.
 * @param maxSize bytes
 */
export function limitBody(maxSize: number) {
  const limit = bodyLimit({
    maxSize,
    onError: (c) => {
      c.header('connection', 'close') // the Node adapter cuts the connection while the rest comes in
      throw new HttpProblem(413)
    },
  })

  return createMiddleware((c, next) => {
    // `bodyLimit` reads the body, so the Node adapter would have to create a complete Request for it.
    const hasNoBody = c.req.method === 'GET' || c.req.method === 'HEAD'
    return hasNoBody ? next() : limit(c, next)
  })
}
