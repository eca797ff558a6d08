import { pipeline } from 'node:stream/promises'
import createError from 'http-errors'
import { z } from 'zod'
import { readConfig } from '#shared/config.ts'
import { route } from '../src/router.ts'

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

export const relay = [
  route('GET', '/weather', async ({ request, response, query, requestId }) => {
    const url = new URL(UPSTREAM_URL)
    url.searchParams.set('city', Query.parse(query).city)
    const upstream = await fetch(url, {
      method: request.method ?? 'GET', // GET or HEAD
      headers: { 'x-request-id': requestId },
      signal: AbortSignal.timeout(10_000),
    }).catch((cause) => {
      throw createError(502, { cause })
    })
    const headers = new Headers(upstream.headers)
    for (const name of DROPPED) headers.delete(name)
    response.setHeaders(headers).writeHead(upstream.status)
    if (upstream.body === null) return void response.end()
    await pipeline(upstream.body, response)
  }),
]
