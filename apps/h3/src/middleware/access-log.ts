import type { ServerResponse } from 'node:http'
import { defineMiddleware, getRequestIP, onDispose } from 'h3'
import { isAbort, isOfQueued } from '#shared/problem.ts'
import { traceId } from '#shared/request-id.ts'

/** Lines of `event.context.log` contain the id of the request. One is written for each response, also after a client abort. */
export const accessLog = defineMiddleware((event) => {
  const { context, req, runtime, url } = event
  const log = context.log.child({ requestId: context.requestId })
  context.log = log
  const since = performance.now()
  const client = getRequestIP(event) // a closed connection has no address
  const trace_id = traceId(req.headers.get('traceparent'))
  const { pathname: path } = url
  const write = (status: number | undefined, err: unknown) => {
    if (err && !isOfQueued(err)) log.error({ err }, 'failed') // a stream, after the headers
    const { method } = req
    const route = context.matchedRoute?.route
    const ms = performance.now() - since
    log.info({ method, path, route, status, ms, client, trace_id }, 'request completed')
  }
  const response = runtime?.node?.res as ServerResponse | undefined
  // `onDispose()` waits for the handler, and Node tells at once that the client has left. A WebSocket has no line.
  if (response) response.once('close', () => write(response.statusCode, response.errored))
  else if (!req.headers.has('upgrade'))
    onDispose(event, (reason) => write(context.status, reason && !isAbort(reason, req.signal) && reason))
})
