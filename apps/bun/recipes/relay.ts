import createError from 'http-errors'
import { z } from 'zod'
import { readConfig } from '#shared/config.ts'
import { idOf } from '../src/middleware/request-id.ts'

const { UPSTREAM_URL } = readConfig(z.object({ UPSTREAM_URL: z.url() }))
const Query = z.object({ city: z.string().max(100) })

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

export const relay = () => ({
  '/weather': {
    GET: async (request: Request) => {
      const url = new URL(UPSTREAM_URL)
      url.searchParams.set('city', Query.parse(new URL(request.url).searchParams.toJSON()).city)
      const upstream = await fetch(url, {
        method: request.method, // GET or HEAD
        headers: { 'x-request-id': idOf(request) },
        signal: AbortSignal.timeout(10_000),
      }).catch((cause) => {
        throw createError(502, { cause })
      })
      const headers = new Headers(upstream.headers)
      for (const name of DROPPED) headers.delete(name)
      return new Response(upstream.body, { status: upstream.status, headers })
    },
  },
})
