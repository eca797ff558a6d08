import type { HttpBindings } from '@hono/node-server'
import { createMiddleware } from 'hono/factory'
import { routePath } from 'hono/route'
import { traceId } from '#shared/request-id.ts'
import { clientOf } from '../forwarded.ts'

/** Lines of `c.get('log')` contain the id of the request. One is written for each response, also after a client abort. */
export const accessLog = createMiddleware<{ Bindings: Partial<HttpBindings> }>(async (c, next) => {
  const log = c.get('log').child({ requestId: c.get('requestId') })
  c.set('log', log)
  const { outgoing } = c.env
  if (outgoing === undefined) return void (await next()) // a WebSocket
  const since = performance.now()
  const client = clientOf(c) // a closed connection has no address
  const trace_id = traceId(c.req.header('traceparent'))
  outgoing.once('close', () => {
    if (outgoing.errored) log.error({ err: outgoing.errored }, 'failed') // a stream, after the headers
    if (!log.isLevelEnabled('info')) return
    const { method, url } = c.req
    const [path] = url.slice(url.indexOf('/', 'https://'.length)).split('?', 1)
    const ran = routePath(c) // the route whose handler ran last; others may match as well
    const route = ran === '/*' ? undefined : ran // only middleware ran
    const ms = performance.now() - since
    const fields = { method, path, route, status: outgoing.statusCode, ms, client, trace_id }
    log.info(fields, 'request completed')
  })
  await next()
})
