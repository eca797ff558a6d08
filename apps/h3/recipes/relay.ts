// Add to Settings in shared/config.ts `UPSTREAM_URL: z.url()`, and a value for tests to `createOptions` in shared/testing/app.ts.
import { getValidatedQuery, H3 } from 'h3'
import { z } from 'zod'
import { fetchUpstream } from '#shared/upstream.ts'

const Query = z.object({ city: z.string().max(100) })

export const relay = ({ UPSTREAM_URL }: { UPSTREAM_URL: string }) =>
  new H3().get('/weather', async (event) => {
    const url = new URL(UPSTREAM_URL)
    url.searchParams.set('city', (await getValidatedQuery(event, Query)).city)
    return fetchUpstream(url, {
      method: event.req.method, // GET or HEAD
      headers: { 'x-request-id': event.context.requestId },
      signal: event.req.signal,
    })
  })
