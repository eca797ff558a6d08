// Add to Settings in shared/config.ts `UPSTREAM_URL: z.url()`, and a value for tests to `createOptions` in shared/testing/app.ts.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { parseRequest } from '#shared/problem.ts'
import { fetchUpstream } from '#shared/upstream.ts'
import { route } from '../src/router.ts'

const Query = z.object({ city: z.string().max(100) })

export const relay = ({ UPSTREAM_URL }: { UPSTREAM_URL: string }) => [
  route('GET', '/weather', async ({ request, response, query, requestId }) => {
    const url = new URL(UPSTREAM_URL)
    url.searchParams.set('city', parseRequest(Query, query).city)
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const { status, headers, body } = await fetchUpstream(url, {
      method: request.method ?? 'GET', // GET or HEAD
      headers: { 'x-request-id': requestId },
      signal: gone.signal,
    })
    response.setHeaders(headers).writeHead(status)
    if (body === null) return void response.end()
    await pipeline(Readable.fromWeb(body), response)
  }),
]
