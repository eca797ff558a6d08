import { pipeline } from 'node:stream/promises'
import { Router } from 'express'
import createError from 'http-errors'
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

export const relay = Router()

relay.get('/weather', async (request, response) => {
  const url = new URL(UPSTREAM_URL)
  url.searchParams.set('city', Query.parse(request.query).city)
  const upstream = await fetch(url, {
    method: request.method, // GET or HEAD
    headers: { 'x-request-id': request.id },
    signal: AbortSignal.timeout(10_000),
  }).catch((cause) => {
    throw createError(502, { cause })
  })
  const headers = new Headers(upstream.headers)
  for (const name of DROPPED) headers.delete(name)
  response.status(upstream.status).setHeaders(headers)
  if (upstream.body === null) return void response.end()
  await pipeline(upstream.body, response)
})
