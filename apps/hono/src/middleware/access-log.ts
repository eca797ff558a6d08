import { createMiddleware } from 'hono/factory'
import { routePath } from 'hono/route'
import { isOfQueued } from '#shared/problem.ts'
import { traceId } from '#shared/request-id.ts'
import { clientOf, type Env } from '../forwarded.ts'

/** Lines of `c.get('log')` contain the id of the request. One is written for each response, also after a client abort. */
export const accessLog = createMiddleware<Env>(async (c, next) => {
  const log = c.get('log').child({ requestId: c.get('requestId') })
  c.set('log', log)
  const since = performance.now()
  const client = clientOf(c) // a closed connection has no address
  const trace_id = traceId(c.req.header('traceparent'))
  const write = (status: number) => {
    if (!log.isLevelEnabled('info')) return
    const { method, url } = c.req
    const [path] = url.slice(url.indexOf('/', 'https://'.length)).split('?', 1)
    const ran = routePath(c) // the route whose handler ran last; others may match as well
    const route = ran === '/*' ? undefined : ran // only middleware ran
    log.info(
      { method, path, route, status, ms: performance.now() - since, client, trace_id },
      'request completed',
    )
  }
  const { outgoing } = c.env
  outgoing?.once('close', () => {
    const { errored: err } = outgoing
    if (err && !isOfQueued(err)) log.error({ err }, 'failed') // a stream, after the headers
    write(outgoing.statusCode)
  })
  await next()
  if (!outgoing && !c.req.header('upgrade')) write(c.res.status) // only Node tells when it has left
})
