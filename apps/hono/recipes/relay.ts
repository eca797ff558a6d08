// Add to Settings in shared/config.ts `UPSTREAM_URL: z.url()`, and a value for tests to `createOptions` in shared/testing/app.ts.
import { Hono } from 'hono'
import { validator } from 'hono/validator'
import { z } from 'zod'
import { parseRequest } from '#shared/problem.ts'
import { fetchUpstream } from '#shared/upstream.ts'

const Query = z.object({ city: z.string().max(100) })

export const relay = ({ UPSTREAM_URL }: { UPSTREAM_URL: string }) =>
  new Hono().get(
    '/weather',
    validator('query', (query) => parseRequest(Query, query)),
    (c) => {
      const url = new URL(UPSTREAM_URL)
      url.searchParams.set('city', c.req.valid('query').city)
      return fetchUpstream(url, {
        method: c.req.method, // GET or HEAD
        headers: { 'x-request-id': c.get('requestId') },
        signal: c.req.raw.signal,
      })
    },
  )
