import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { z } from 'zod'
import { readConfig } from '#shared/config.ts'

const { UPSTREAM_URL } = readConfig(z.object({ UPSTREAM_URL: z.url() }))
const Query = Type.Object({ city: Type.String({ maxLength: 100 }) })

/** `fetch` has decoded the body, so its length and coding are others; the rest is about the other connection and request. */
const DROPPED = [
  'content-encoding',
  'content-length',
  'connection',
  'keep-alive',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
]

export const relay: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/weather', { schema: { querystring: Query } }, async (request, reply) => {
    const url = new URL(UPSTREAM_URL)
    url.searchParams.set('city', request.query.city)
    const upstream = await fetch(url, {
      method: request.method, // GET or HEAD
      headers: { 'x-request-id': request.id },
      signal: AbortSignal.any([request.signal, AbortSignal.timeout(10_000)]),
    }).catch((cause) => {
      if (request.signal.aborted) throw cause // the client has left
      throw app.httpErrors.createError(502, { cause })
    })
    for (const [name, value] of upstream.headers) if (!DROPPED.includes(name)) reply.header(name, value)
    return reply.code(upstream.status).send(upstream.body ?? undefined)
  })
}
