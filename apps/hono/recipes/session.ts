// Add to Settings in shared/config.ts `SESSION_SECRET: z.string().min(32)`, and a value for tests to `createOptions` in shared/testing/app.ts.
import { Hono } from 'hono'
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie'
import { csrf } from 'hono/csrf'
import { HTTPException } from 'hono/http-exception'
import { validator } from 'hono/validator'
import { z } from 'zod'
import { parseRequest } from '#shared/problem.ts'

const Login = z.object({ name: z.string().min(1).max(100) })
const COOKIE = { httpOnly: true, sameSite: 'lax', maxAge: 86_400 } as const // seconds

/** The first name may have a byte order mark. */
const withoutMark = (form: object) =>
  Object.fromEntries(Object.entries(form).map(([name, value]) => [name.replace(/^\uFEFF/, ''), value]))

// `csrf()` refuses forms of other sites. TRUST_PROXY says which proxy can tell whether the browser uses TLS.
export const session = ({ SESSION_SECRET }: { SESSION_SECRET: string }) =>
  new Hono()
    .post(
      '/login',
      csrf(),
      validator('form', (form) => parseRequest(Login, withoutMark(form))),
      async (c) => {
        const secure = new URL(c.req.url).protocol === 'https:'
        await setSignedCookie(c, 'session', c.req.valid('form').name, SESSION_SECRET, { ...COOKIE, secure })
        return c.redirect('/me', 303)
      },
    )
    .get('/me', async (c) => {
      const name = await getSignedCookie(c, SESSION_SECRET, 'session')
      if (!name) throw new HTTPException(401, { message: 'Log in first.' }) // false: forged
      return c.json({ name })
    })
    .post('/logout', csrf(), (c) => {
      deleteCookie(c, 'session')
      return c.redirect('/', 303)
    })
