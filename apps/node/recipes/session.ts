// npm install cookies && npm install --save-dev @types/cookies
// Add to Settings in shared/config.ts `SESSION_SECRET: z.string().min(32)`, and a value for tests to `createOptions` in shared/testing/app.ts.
import Cookies from 'cookies'
import createError from 'http-errors'
import { z } from 'zod'
import { parseRequest } from '#shared/problem.ts'
import type { Context } from '../src/context.ts'
import { readBody } from '../src/read-body.ts'
import { route } from '../src/router.ts'

const Login = z.object({ name: z.string().min(1).max(100) })

/** Another site cannot log its visitors in here: https://owasp.org/www-community/attacks/csrf */
function refuseOtherSites({ request, forwarded: { scheme, host } }: Context): void {
  if (request.headers.origin !== `${scheme}://${host}`)
    throw createError(403, 'This form is from another site.')
}

export const session = ({ SESSION_SECRET }: { SESSION_SECRET: string }) => {
  /** The cookie is signed, and `secure` if the browser uses TLS: TRUST_PROXY says which proxy can tell. */
  const cookiesOf = ({ request, response, forwarded }: Context) =>
    new Cookies(request, response, { keys: [SESSION_SECRET], secure: forwarded.scheme === 'https' })

  return [
    route('POST', '/login', async (context) => {
      refuseOtherSites(context)
      const form = new URLSearchParams(new TextDecoder().decode(await readBody(context.request, 1024)))
      const { name } = parseRequest(Login, Object.fromEntries(form))
      const options = { signed: true, sameSite: 'lax', maxAge: 86_400_000 } as const
      cookiesOf(context).set('session', encodeURIComponent(name), options)
      context.response.writeHead(303, { location: '/me' }).end()
    }),

    route('GET', '/me', (context) => {
      const name = cookiesOf(context).get('session', { signed: true }) // without, it would believe any value
      if (name === undefined) throw createError(401, 'Log in first.')
      context.json({ name: decodeURIComponent(name) })
    }),

    route('POST', '/logout', (context) => {
      refuseOtherSites(context)
      cookiesOf(context).set('session', null, { signed: true })
      context.response.writeHead(303, { location: '/' }).end()
    }),
  ]
}
