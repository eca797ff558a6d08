// Add to Settings in shared/config.ts `SESSION_SECRET: z.string().min(32)`, and a value for tests to `createOptions` in shared/testing/app.ts.
import { timingSafeEqual } from 'node:crypto'
import type { BunRequest, Server } from 'bun'
import createError from 'http-errors'
import { z } from 'zod'
import type { AppOptions } from '#shared/app-options.ts'
import { parseRequest } from '#shared/problem.ts'
import { forwardedOf } from '../src/forwarded.ts'

const Login = z.object({ name: z.string().min(1).max(100) })

export const session = (
  { config }: Pick<AppOptions, 'config'>,
  { SESSION_SECRET }: { SESSION_SECRET: string },
) => {
  /** Another site cannot log its visitors in here: https://owasp.org/www-community/attacks/csrf */
  function requireSameOrigin(request: Request, server: Server<undefined>): { secure: boolean } {
    const { scheme, host } = forwardedOf(request, server, config)
    if (request.headers.get('origin') !== `${scheme}://${host}`)
      throw createError(403, 'This form is from another site.')
    return { secure: scheme === 'https' }
  }

  return {
    '/login': {
      POST: async (request: BunRequest<'/login'>, server: Server<undefined>) => {
        const { secure } = requireSameOrigin(request, server)
        const form = await request.formData().catch((cause) => {
          throw createError(400, { cause })
        })
        const { name } = parseRequest(Login, Object.fromEntries(form))
        const options = { httpOnly: true, sameSite: 'lax', secure, maxAge: 86_400 } as const
        request.cookies.set('session', sign(name, SESSION_SECRET), options)
        return Response.redirect('/me', 303)
      },
    },

    '/me': {
      GET: ({ cookies }: BunRequest<'/me'>) => {
        const name = verify(cookies.get('session') ?? '', SESSION_SECRET)
        if (name === undefined) throw createError(401, 'Log in first.')
        return Response.json({ name })
      },
    },

    '/logout': {
      POST: (request: BunRequest<'/logout'>, server: Server<undefined>) => {
        requireSameOrigin(request, server)
        request.cookies.delete('session')
        return Response.redirect('/', 303)
      },
    },
  }
}

function sign(name: string, secret: string): string {
  const value = Buffer.from(name).toString('base64url')
  return `${value}.${new Bun.CryptoHasher('sha256', secret).update(value).digest('base64url')}`
}

/** @returns undefined if it is not signed by us */
function verify(cookie: string, secret: string): string | undefined {
  const name = Buffer.from(cookie.split('.', 1)[0] ?? '', 'base64url').toString()
  const [given, expected] = [Buffer.from(cookie), Buffer.from(sign(name, secret))]
  return given.length === expected.length && timingSafeEqual(given, expected) ? name : undefined
}
