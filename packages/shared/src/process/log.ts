import { channel } from 'node:diagnostics_channel'
import { isIP } from 'node:net'
import { type DestinationStream, type Logger, pino, stdSerializers, symbols } from 'pino'
import type { Config } from './config.ts'
import { Output } from './output.ts'

export type { Logger }

/** With these headers, a reader of the log could act for a client. */
const CREDENTIALS = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie'])

/**
 * How a line shows a request, a response or headers that code passes to the logger. Queries and credentials are left out, because many
 * people can read a log.
 */
const SERIALIZERS = {
  err: stdSerializers.err,
  req: toRequest,
  request: toRequest,
  res: toResponse,
  response: toResponse,
  headers: toHeaders,
} as const

/** An error of Node's parser has all that the client sent, with its credentials. */
const PACKETS = ['err.rawPacket', 'err.*.rawPacket', 'err.aggregateErrors[*].rawPacket']

/**
 * Logs JSON lines on standard output; the platform collects them (https://12factor.net/logs). Lines wait for up to 0.5 s or 64 KiB, so
 * that many share one write. Every exit writes them; only SIGKILL and a crash of the runtime lose those that wait.
 * @param destination where the lines go in tests
 */
export function createLogger(
  app: string,
  config: Pick<Config, 'logLevel'>,
  destination?: DestinationStream,
): Logger {
  const redact = { paths: PACKETS, remove: true }
  const options = { base: { app }, level: config.logLevel, serializers: SERIALIZERS, redact }
  if (destination !== undefined) return writeFast(pino(options, destination))
  const output = new Output((lines) => log.warn({ lines }, 'log was full: lines dropped'))
  const log = writeFast(pino(options, output))
  return log
}

interface Serializer {
  [symbols.asJsonSym](fields: object, message: string, level: number, time: string): string
  /** Fields of the logger and its parents, such as `,"app":"node/hello"`. */
  readonly [symbols.chindingsSym]: string
}

/**
 * Takes 0.3 µs for a line of the access log. pino takes 1.1 µs, because it calls `JSON.stringify` for every name and value. It exposes its
 * symbols for such integrations: https://getpino.io/#/docs/api?id=pino-symbols
 */
function writeFast(log: Logger): Logger {
  const { [symbols.asJsonSym]: asJson } = log as unknown as Serializer
  return Object.assign(log, {
    [symbols.asJsonSym](
      this: Serializer,
      fields: object,
      message: string,
      level: number,
      time: string,
    ): string {
      if (fields !== accessLine) return asJson.call(this, fields, message, level, time)
      return `{"level":${level}${time}${this[symbols.chindingsSym]},${JSON.stringify(fields).slice(1)}\n`
    },
  })
}

/** Resolves when all lines are written, or the collector is behind: the exit writes what still waits, in order. */
export function flush(log: Logger): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  log.flush(() => resolve())
  return promise
}

function toRequest({ method, url }: { method?: string; url?: string }) {
  return { method, path: withoutQuery(url ?? '') }
}

function toResponse({ status, statusCode = status }: { status?: number; statusCode?: number }) {
  return { status: statusCode }
}

function toHeaders(headers: Headers | Readonly<Record<string, unknown>>) {
  const entries: Iterable<[string, unknown]> = headers instanceof Headers ? headers : Object.entries(headers)
  return Object.fromEntries([...entries].filter(([name]) => !CREDENTIALS.has(name.toLowerCase())))
}

/** A request target or URL without its query, which may hold secrets. */
export function withoutQuery(url: string): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}

/** Writes a line at once and at any log level: people and launchers need it. */
export function announce(log: Logger, fields: object, message: string): Promise<void> {
  log.child({}, { level: 'info' }).info(fields, message)
  return flush(log)
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
  /** The client's address. Any other text, which a proxy may pass on, is not logged. */
  client: string | undefined
  /** The inbound `traceparent` header. */
  traceparent?: string | string[] | null | undefined
}

/** Other code, such as telemetry, can subscribe to every `LoggedResponse`. Without a subscriber it costs nothing. */
const responses = channel('app:response')

/** The last line of the access log: only strings and numbers. */
let accessLine: object | undefined

/** Writes one line per response, aborted ones included. */
export function logResponse(log: Pick<Logger, 'info'>, response: LoggedResponse): void {
  if (responses.hasSubscribers) responses.publish(response)
  const { requestId, method, route, status, traceparent } = response
  const client = response.client && isIP(response.client) !== 0 ? response.client : undefined
  const path = withoutQuery(response.url)
  const ms = Math.round(response.ms * 1000) / 1000
  const traceId = traceparent ? readTraceId(String(traceparent)) : undefined
  accessLine = {
    requestId,
    method,
    path,
    route,
    status,
    ms,
    client,
    trace_id: traceId,
    msg: 'request completed',
  }
  log.info(accessLine)
}

/** @returns the trace id of a valid `traceparent` header (W3C Trace Context section 3.2) */
export function readTraceId(traceparent: string): string | undefined {
  const [, version, traceId, parentId, rest] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}(-.*)?$/.exec(traceparent) ?? []
  // Version 00 has nothing after the flags; version ff and ids of only zeros are invalid.
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  return /[^0]/.test(traceId ?? '') && /[^0]/.test(parentId ?? '') ? traceId : undefined
}

/** Whether responses are logged or observed. If not, an app need not watch for their end. */
export function logsResponses(log: Logger): boolean {
  return log.isLevelEnabled('info') || responses.hasSubscribers
}

/** Whether an error means only that the client closed the connection too early, or sent a body that Node's parser refused (`HPE_…`). */
export function isClientAbort(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^(?:ERR_STREAM_PREMATURE_CLOSE|ECONNRESET|EPIPE|HPE_\w+)$/.test(code)
}

/** Writes one line per failed handler, with the cause and the id that the client got. */
export function logFailure(log: Pick<Logger, 'error'>, requestId: string, error: unknown): void {
  log.error({ requestId, err: error }, 'failed')
}
