// Add to Settings in shared/config.ts `UPSTREAM_URL: z.url()`, and a value for tests to `createOptions` in shared/testing/app.ts.
import { Readable } from 'node:stream'
import Router from '@koa/router'
import { z } from 'zod'
import { parseRequest } from '#shared/problem.ts'
import { fetchUpstream } from '#shared/upstream.ts'

const Query = z.object({ city: z.string().max(100) })

export const relay = ({ UPSTREAM_URL }: { UPSTREAM_URL: string }) =>
  new Router().get('/weather', async (ctx) => {
    const url = new URL(UPSTREAM_URL)
    url.searchParams.set('city', parseRequest(Query, ctx.query).city)
    const gone = new AbortController()
    ctx.res.once('close', () => gone.abort())
    const { status, headers, body } = await fetchUpstream(url, {
      method: ctx.method, // GET or HEAD
      headers: { 'x-request-id': ctx.state.requestId },
      signal: gone.signal,
    })
    ctx.status = status
    ctx.set(Object.fromEntries(headers))
    if (body !== null) ctx.body = Readable.fromWeb(body)
  })
