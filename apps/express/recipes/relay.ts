// Add to Settings in shared/config.ts `UPSTREAM_URL: z.url()`, and a value for tests to `createOptions` in shared/testing/app.ts.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Router } from 'express'
import { z } from 'zod'
import { parseRequest } from '#shared/problem.ts'
import { fetchUpstream } from '#shared/upstream.ts'

const Query = z.object({ city: z.string().max(100) })

export const relay = ({ UPSTREAM_URL }: { UPSTREAM_URL: string }) =>
  Router().get('/weather', async (request, response) => {
    const url = new URL(UPSTREAM_URL)
    url.searchParams.set('city', parseRequest(Query, request.query).city)
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const { status, headers, body } = await fetchUpstream(url, {
      method: request.method, // GET or HEAD
      headers: { 'x-request-id': request.id },
      signal: gone.signal,
    })
    response.status(status).setHeaders(headers)
    if (body === null) return void response.end()
    await pipeline(Readable.fromWeb(body), response)
  })
