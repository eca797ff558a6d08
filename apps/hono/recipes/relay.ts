import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { proxy } from 'hono/proxy'
import { validator } from 'hono/validator'
import { z } from 'zod'
import { readConfig } from '#shared/config.ts'

const { UPSTREAM_URL } = readConfig(z.object({ UPSTREAM_URL: z.url() }))
const Query = z.object({ city: z.string().max(100) })

export const relay = new Hono().get(
  '/weather',
  validator('query', (query) => Query.parse(query)),
  async (c) => {
    const url = new URL(UPSTREAM_URL)
    url.searchParams.set('city', c.req.valid('query').city)
    // `fetch` decodes the body, so its length and coding are others. `proxy` drops both.
    const upstream = await proxy(url, {
      method: c.req.method, // GET or HEAD
      headers: { 'x-request-id': c.get('requestId') },
      signal: AbortSignal.timeout(10_000),
    }).catch((cause) => {
      throw new HTTPException(502, { cause })
    })
    upstream.headers.delete('x-request-id') // this app has its own
    return upstream
  },
)
