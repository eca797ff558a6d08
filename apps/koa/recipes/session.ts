// Add to Settings in shared/config.ts `SESSION_SECRET: z.string().min(32)`, and a value for tests to `createOptions` in shared/testing/app.ts.
import Router from '@koa/router'
import type Koa from 'koa'
import type { Middleware } from 'koa'
import { z } from 'zod'
import { parseRequest } from '#shared/problem.ts'

const Login = z.object({ name: z.string().min(1).max(100) })

/** Another site cannot log its visitors in here: https://owasp.org/www-community/attacks/csrf */
const sameOrigin: Middleware = (ctx, next) => {
  if (ctx.get('origin') !== `${ctx.protocol}://${ctx.host}`) ctx.throw(403, 'This form is from another site.')
  return next()
}

/** Call it in app.ts: `app.use(session(app, config).routes())`. */
export function session(app: Koa, { SESSION_SECRET }: { SESSION_SECRET: string }): Router {
  app.keys = [SESSION_SECRET] // they sign cookies

  return new Router()
    .post('/login', sameOrigin, (ctx) => {
      const { name } = parseRequest(Login, ctx.request.body)
      // `secure` if the browser uses TLS: TRUST_PROXY says which proxy can tell.
      ctx.cookies.set('session', encodeURIComponent(name.toWellFormed()), {
        signed: true,
        sameSite: 'lax',
        maxAge: 86_400_000,
      })
      ctx.status = 303
      ctx.redirect('/me')
    })
    .get('/me', (ctx) => {
      const name = ctx.cookies.get('session', { signed: true }) ?? ctx.throw(401, 'Log in first.')
      ctx.body = { name: decodeURIComponent(name) }
    })
    .post('/logout', sameOrigin, (ctx) => {
      ctx.cookies.set('session', null)
      ctx.status = 303
      ctx.redirect('/')
    })
}
