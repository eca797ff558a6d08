import cluster from 'node:cluster'
import { type Logger, pino } from 'pino'
import type { Config } from './config.ts'

export type { Logger }

/** Logs JSON lines on standard output; the platform collects them (https://12factor.net/logs). */
export function createLogger(app: string, config: Pick<Config, 'logLevel'>): Logger {
  const base = cluster.worker === undefined ? { app } : { app, worker: cluster.worker.id }
  return pino({ base, level: config.logLevel })
}

/** Writes a line at any log level: people and launchers need it. */
export function announce(log: Logger, fields: object, message: string): void {
  log.child({}, { level: 'info' }).info(fields, message)
}

/** The data of one line of the access log. */
export interface LoggedResponse {
  requestId?: string
  method: string
  /** The request target. Its query is not logged. */
  url: string
  /** The path of the route, such as `/hello/:name`; absent if none matched. */
  route?: string | undefined
  status: number
  /** Milliseconds from the request to the end of its response. */
  ms: number
  client: string | undefined
  /** The inbound `traceparent` header. */
  traceparent?: string | string[] | null | undefined
}

/** Writes one line per response, aborted ones included. */
export function logResponse(
  log: Pick<Logger, 'info'>,
  { requestId, method, url, route, status, ms, client, traceparent }: LoggedResponse,
): void {
  const query = url.indexOf('?')
  const traceId = traceparent && readTraceId(String(traceparent))
  log.info(
    {
      requestId,
      method,
      path: query === -1 ? url : url.slice(0, query),
      route,
      status,
      ms: Math.round(ms * 1000) / 1000,
      client,
      trace_id: traceId || undefined,
    },
    'request completed',
  )
}

/** @returns the trace id of a valid `traceparent` header (W3C Trace Context section 3.2) */
export function readTraceId(traceparent: string): string | undefined {
  const [, version, traceId, parentId, rest] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(-.*)?$/.exec(traceparent) ?? []
  // Version 00 has nothing after the flags; version ff and ids of only zeros are invalid.
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  return /[^0]/.test(traceId ?? '') && /[^0]/.test(parentId ?? '') ? traceId : undefined
}

/** Whether responses are logged. If not, an app need not watch for their end. */
export function logsResponses(log: Logger): boolean {
  return log.isLevelEnabled('info')
}

/** Whether an error means only that the client closed the connection before the response was complete. */
export function isClientAbort(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET' || code === 'EPIPE'
}

/** Writes one line per failed handler, with the cause and the id that the client got. */
export function logFailure(log: Pick<Logger, 'error'>, requestId: string, error: unknown): void {
  log.error({ requestId, err: error }, 'failed')
}
