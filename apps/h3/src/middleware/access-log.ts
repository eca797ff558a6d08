import type { ServerResponse } from 'node:http'
import { defineMiddleware, getRequestIP } from 'h3'
import { traceId } from '#shared/request-id.ts'

/** Lines of `event.context.log` contain the id of the request. One is written for each response, also after a client abort. */
export const accessLog = defineMiddleware((event) => {
  const { context, req, url } = event
  const log = context.log.child({ requestId: context.requestId })
  context.log = log
  const response = event.runtime?.node?.res as ServerResponse | undefined
  if (response === undefined) return // a WebSocket
  const since = performance.now()
  const client = getRequestIP(event) // a closed connection has no address
  const trace_id = traceId(req.headers.get('traceparent'))
  const { pathname: path } = url
  response.once('close', () => {
    if (response.errored) log.error({ err: response.errored }, 'failed') // a stream, after the headers
    const { method } = req
    const route = context.matchedRoute?.route
    const ms = performance.now() - since
    const fields = { method, path, route, status: response.statusCode, ms, client, trace_id }
    log.info(fields, 'request completed')
  })
})
