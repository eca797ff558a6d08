import { getValidatedQuery, H3, proxy } from 'h3'
import { z } from 'zod'
import { readConfig } from '#shared/config.ts'

const { UPSTREAM_URL } = readConfig(z.object({ UPSTREAM_URL: z.url() }))
const Query = z.object({ city: z.string().max(100) })

export const relay = new H3().get('/weather', async (event) => {
  const url = new URL(UPSTREAM_URL)
  url.searchParams.set('city', (await getValidatedQuery(event, Query)).city)
  // `fetch` decodes the body, so its length and coding are others. `proxy` drops both, and makes a failure a 502 or 504.
  const upstream = await proxy(event, url.href, {
    fetchOptions: { method: event.req.method }, // GET or HEAD
    headers: { 'x-request-id': event.context.requestId },
    timeout: 10_000, // milliseconds
  })
  upstream.headers.delete('x-request-id') // this app has its own
  return upstream
})
