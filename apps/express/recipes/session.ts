// npm install cookie-session && npm install --save-dev @types/cookie-session
// Add to Settings in shared/config.ts `SESSION_SECRET: z.string().min(32)`, and a value for tests to `createOptions` in shared/testing/app.ts.
import cookieSession from 'cookie-session'
import express, { type RequestHandler, Router } from 'express'
import createError from 'http-errors'
import { z } from 'zod'
import { parseRequest } from '#shared/problem.ts'

const Login = z.object({ name: z.string().min(1).max(100) })

/** Another site cannot log its visitors in here: https://owasp.org/www-community/attacks/csrf */
const sameOrigin: RequestHandler = (request, _response, next) => {
  const isOwn = request.get('origin') === `${request.protocol}://${request.host}`
  next(isOwn ? undefined : createError(403, 'This form is from another site.'))
}

export function session({ SESSION_SECRET }: { SESSION_SECRET: string }): Router {
  const routes = Router()

  // The cookie is signed, and `secure` if the browser uses TLS: TRUST_PROXY says which proxy can tell.
  routes.use(cookieSession({ name: 'session', keys: [SESSION_SECRET], sameSite: 'lax', maxAge: 86_400_000 }))

  routes.post('/login', sameOrigin, express.urlencoded({ limit: '1kb' }), (request, response) => {
    request.session = parseRequest(Login, request.body)
    response.redirect(303, '/me')
  })

  routes.get('/me', (request, response) => {
    if (request.session?.name === undefined) throw createError(401, 'Log in first.')
    response.json({ name: request.session.name })
  })

  routes.post('/logout', sameOrigin, (request, response) => {
    request.session = null
    response.redirect(303, '/')
  })

  return routes
}
