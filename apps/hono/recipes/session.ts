import { Hono } from 'hono'
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie'
import { csrf } from 'hono/csrf'
import { HTTPException } from 'hono/http-exception'
import { validator } from 'hono/validator'
import { z } from 'zod'
import { readConfig } from '#shared/config.ts'

const { SESSION_SECRET } = readConfig(z.object({ SESSION_SECRET: z.string().min(32) }))
const Login = z.object({ name: z.string().min(1).max(100) })
const COOKIE = { httpOnly: true, sameSite: 'lax', maxAge: 86_400 } as const // seconds

// `csrf()` refuses forms of other sites. TRUST_PROXY says which proxy can tell whether the browser uses TLS.
export const session = new Hono()
  .post(
    '/login',
    csrf(),
    validator('form', (form) => Login.parse(form)),
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
