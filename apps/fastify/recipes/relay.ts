// Add to Settings in shared/config.ts `UPSTREAM_URL: z.url()`, and a value for tests to `createOptions` in shared/testing/app.ts.
import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { fetchUpstream } from '#shared/upstream.ts'

const Query = Type.Object({ city: Type.String({ maxLength: 100 }) })

/** `app.register(relay, config)` */
export const relay: FastifyPluginAsyncTypebox<{ UPSTREAM_URL: string }> = async (app, { UPSTREAM_URL }) => {
  app.get('/weather', { schema: { querystring: Query } }, async (request, reply) => {
    const url = new URL(UPSTREAM_URL)
    url.searchParams.set('city', request.query.city)
    const { status, headers, body } = await fetchUpstream(url, {
      method: request.method, // GET or HEAD
      headers: { 'x-request-id': request.id },
      signal: request.signal,
    })
    return reply
      .code(status)
      .headers(Object.fromEntries(headers))
      .send(body ?? undefined)
  })
}
