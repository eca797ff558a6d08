import { Readable } from 'node:stream'
import Router from '@koa/router'
import { z } from 'zod'
import { readConfig } from '#shared/config.ts'

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

export const relay = new Router()

relay.get('/weather', async (ctx) => {
  const url = new URL(UPSTREAM_URL)
  url.searchParams.set('city', Query.parse(ctx.query).city)
  const upstream = await fetch(url, {
    method: ctx.method, // GET or HEAD
    headers: { 'x-request-id': ctx.state.requestId },
    signal: AbortSignal.timeout(10_000),
  }).catch((cause) => ctx.throw(502, { cause }))
  const headers = new Headers(upstream.headers)
  for (const name of DROPPED) headers.delete(name)
  ctx.status = upstream.status
  ctx.res.setHeaders(headers) // `ctx.set` would join two Set-Cookie
  if (upstream.body !== null) ctx.body = Readable.fromWeb(upstream.body)
})
