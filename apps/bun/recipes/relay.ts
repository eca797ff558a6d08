// Add to Settings in shared/config.ts `UPSTREAM_URL: z.url()`, and a value for tests to `createOptions` in shared/testing/app.ts.
import { z } from 'zod'
import { parseRequest } from '#shared/problem.ts'
import { fetchUpstream } from '#shared/upstream.ts'
import { idOf } from '../src/middleware/request-id.ts'

const Query = z.object({ city: z.string().max(100) })

export const relay = ({ UPSTREAM_URL }: { UPSTREAM_URL: string }) => ({
  '/weather': {
    GET: (request: Request) => {
      const url = new URL(UPSTREAM_URL)
      url.searchParams.set('city', parseRequest(Query, new URL(request.url).searchParams.toJSON()).city)
      return fetchUpstream(url, {
        method: request.method, // GET or HEAD
        headers: { 'x-request-id': idOf(request) },
        signal: request.signal,
      })
    },
  },
})
