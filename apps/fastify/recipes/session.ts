// npm install @fastify/cookie @fastify/formbody
// Add to Settings in shared/config.ts `SESSION_SECRET: z.string().min(32)`, and a value for tests to `createOptions` in shared/testing/app.ts.
import { parse } from 'node:querystring'
import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { onRequestAsyncHookHandler } from 'fastify'

const Login = Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) })

/** Another site cannot log its visitors in here: https://owasp.org/www-community/attacks/csrf */
const sameOrigin: onRequestAsyncHookHandler = async (request, reply) => {
  const isOwn = request.headers.origin === `${request.protocol}://${request.host}`
  if (!isOwn) return reply.forbidden('This form is from another site.')
}

/** `app.register(session, config)` */
export const session: FastifyPluginAsyncTypebox<{ SESSION_SECRET: string }> = async (
  app,
  { SESSION_SECRET },
) => {
  await app.register(formbody, { bodyLimit: 1024, parser: (text) => parse(text.replace(/^\uFEFF/, '')) })
  // `auto` is secure if the browser uses TLS: TRUST_PROXY says which proxy can tell.
  await app.register(cookie, {
    secret: SESSION_SECRET,
    parseOptions: {
      path: '/',
      signed: true,
      httpOnly: true,
      sameSite: 'lax',
      secure: 'auto',
      maxAge: 86_400,
    },
  })

  app.post('/login', { onRequest: sameOrigin, schema: { body: Login } }, async (request, reply) =>
    reply.setCookie('session', request.body.name.toWellFormed()).redirect('/me', 303),
  )

  app.get('/me', async (request, reply) => {
    const { valid, value } = request.unsignCookie(request.cookies.session ?? '')
    if (!valid) return reply.unauthorized('Log in first.')
    return { name: value }
  })

  app.post('/logout', { onRequest: sameOrigin }, async (_request, reply) =>
    reply.clearCookie('session').redirect('/', 303),
  )
}
