import cluster from 'node:cluster'
import { type Logger, pino } from 'pino'
import type { Config } from './config.ts'

export type { Logger }

/** JSON lines on standard output; collecting them is the platform's work (https://12factor.net/logs). */
export function createLogger(app: string, config: Pick<Config, 'logLevel'>): Logger {
  const base = cluster.worker === undefined ? { app } : { app, worker: cluster.worker.id }
  return pino({ base, level: config.logLevel })
}

/** A line that is written whatever the level: people and launchers need it. */
export function announce(log: Logger, fields: object, message: string): void {
  log.child({}, { level: 'info' }).info(fields, message)
}

/** What one line of the access log is made of. */
export interface LoggedResponse {
  requestId?: string
  method: string
  /** The request target. Its query is not logged. */
  url: string
  /** As the route was registered, such as `/hello/:name`; absent if none matched. */
  route?: string | undefined
  status: number
  /** Milliseconds from the request to the end of its response. */
  ms: number
  client: string | undefined
  /** The inbound `traceparent` header. */
  traceparent?: string | string[] | null | undefined
}

/** One line per response, aborted ones included. */
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
  // Version 00 has nothing behind the flags; ff is invalid, and so are ids of zeros only.
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  return /[^0]/.test(traceId ?? '') && /[^0]/.test(parentId ?? '') ? traceId : undefined
}

/** Whether responses are logged. If not, an app need not listen for their end. */
export function logsResponses(log: Logger): boolean {
  return log.isLevelEnabled('info')
}

/** Whether an error only says that the client closed the connection before it had the whole response. */
export function isClientAbort(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET' || code === 'EPIPE'
}

/** One line per failure of a handler, with the cause and the id that the client was given. */
export function logFailure(log: Pick<Logger, 'error'>, requestId: string, error: unknown): void {
  log.error({ requestId, err: error }, 'failed')
}
