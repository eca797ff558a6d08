// Add to Settings in shared/config.ts `SESSION_SECRET: z.string().min(32)`, and a value for tests to `createOptions` in shared/testing/app.ts.
import { defineMiddleware, H3, type H3Event, HTTPError, readValidatedBody, redirect, useSession } from 'h3'
import { z } from 'zod'

const Login = z.object({ name: z.string().min(1).max(100) })

/** Another site cannot log its visitors in here: https://owasp.org/www-community/attacks/csrf */
const sameOrigin = defineMiddleware(({ req, url }) => {
  if (req.headers.get('origin') !== url.origin)
    throw new HTTPError('This form is from another site.', { status: 403 })
})

export const session = ({ SESSION_SECRET }: { SESSION_SECRET: string }) => {
  /** The cookie is encrypted, and `secure` if the browser uses TLS: TRUST_PROXY says which proxy can tell. */
  const sessionOf = (event: H3Event) =>
    useSession<{ name?: string }>(event, {
      name: 'session',
      password: SESSION_SECRET,
      maxAge: 86_400, // seconds
      cookie: { secure: event.url.protocol === 'https:' },
      sessionHeader: false,
    })

  return new H3()
    .post(
      '/login',
      async (event) => {
        const { name } = await readValidatedBody(event, Login)
        const { update } = await sessionOf(event)
        await update({ name })
        return redirect('/me', 303)
      },
      { middleware: [sameOrigin] },
    )
    .get('/me', async (event) => {
      const { name } = (await sessionOf(event)).data
      if (name === undefined) throw new HTTPError('Log in first.', { status: 401 })
      return { name }
    })
    .post(
      '/logout',
      async (event) => {
        const { clear } = await sessionOf(event)
        await clear()
        return redirect('/', 303)
      },
      { middleware: [sameOrigin] },
    )
}
