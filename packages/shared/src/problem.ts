import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { z } from 'zod'

/** The media type of all errors. */
export const PROBLEM = 'application/problem+json'

/** No cache keeps an error, although its route said `public, max-age=3600`. */
const NO_STORE = { 'cache-control': 'no-store' }

/** Headers of the body that a route wanted to send. Of a problem in its place, they are wrong. */
export const BODY_HEADERS = [
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-range',
  'etag',
  'last-modified',
  'transfer-encoding',
]

/** A field of the request that is not valid, such as `items`, and why. */
export interface FieldError {
  field: string
  reason: string
}

/** Problem details (RFC 9457). */
export interface Problem {
  type: 'about:blank'
  title: string
  status: number
  detail?: string
  errors?: FieldError[]
}

export function createProblem(status: number, more: Pick<Problem, 'detail' | 'errors'> = {}): Problem {
  return { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, ...more }
}

/**
 * What a client may know about a thrown value. Of an error of http-errors, or of any that says `expose: true`: its status, its headers, and
 * the message of a 4xx. Everything else is a 500, such as the 401 that an upstream service sent.
 * @param known what the framework knows better than the error
 */
export function toProblem(
  error: unknown,
  known: { status?: number; expose?: boolean } = {},
): {
  status: number
  headers: Record<string, string>
  problem: Problem
  /** Of its line in the log, if it is a failure. */
  level?: 'error' | 'warn' | undefined
} {
  const own = Object(error)
  const { statusCode, headers = {}, message, syscall, code, errcode = 0 } = own
  const { expose = own.expose, status = own.status ?? statusCode } = known
  // SQLite has waited for another process in vain (https://sqlite.org/rescode.html#busy): of node:sqlite, and of Bun.
  if ((errcode & 255) === 5 || String(code).startsWith('SQLITE_BUSY'))
    return { ...toProblem(new Busy()), level: 'warn' }
  if (typeof expose !== 'boolean' || !(status >= 400 && status <= 599))
    return { status: 500, headers: NO_STORE, problem: createProblem(500), level: 'error' }
  // An error of the file system names a path of the server, and is exposed by http-errors as well.
  const isPublic = expose && status < 500 && syscall === undefined && message !== STATUS_CODES[status]
  const problem = createProblem(status, isPublic ? { detail: message } : {})
  if (error instanceof InvalidRequest) problem.errors = error.errors
  const level = status >= 500 && !(error instanceof Busy) ? 'error' : undefined
  return { status, headers: { ...NO_STORE, ...headers }, problem, level }
}

/** Too much is under way, so this request is refused: 503. That is no failure, and not logged as one. */
export class Busy extends Error {
  readonly expose = true
  readonly status = 503
  readonly headers = { 'retry-after': '1' }
}

/** The client's fault. */
class InvalidRequest extends Error {
  readonly expose = true
  readonly status = 400
  readonly errors: FieldError[]

  constructor(errors: FieldError[]) {
    super('Bad Request')
    this.errors = errors
  }
}

/**
 * What a client sent, as a schema has it. A `ZodError` of `schema.parse()` is a failure, because what that gets may be of another service.
 * @throws 400 that names the fields
 */
export function parseRequest<Output>(schema: z.ZodType<Output>, value: unknown): Output {
  const { success, data, error } = schema.safeParse(value)
  if (success) return data
  throw new InvalidRequest(error.issues.map(toFieldError))
}

const ABORTS = ['AbortError', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_UNABLE_TO_PIPE']

/**
 * Whether an error only says that something was broken off because the client has left. Any other is a failure.
 * @param signal that of the request
 */
export function isAbort(error: unknown, signal: AbortSignal): boolean {
  const { name, code, cause } = Object(error)
  const isOf = [error, cause].includes(signal.reason)
  return signal.aborted && (isOf || ABORTS.includes(name) || ABORTS.includes(code))
}

/** The same on Node, by the response that the client has closed. A source that fails closes it with an error. */
export function isClientAbort(error: unknown, { closed, errored, req }: ServerResponse): boolean {
  const { name, code } = Object(error)
  const isOurs = errored && !isOfQueued(errored)
  return closed && !isOurs && (ABORTS.includes(name) || ABORTS.includes(code) || error === req.errored)
}

/** Node's error, when the client leaves, of a response that waits behind another of its connection (HTTP pipelining). */
export function isOfQueued(error: unknown): boolean {
  const { code, message } = Object(error)
  return code === 'ECONNRESET' && message === 'aborted'
}

/** Of Zod, or of any other Standard Schema (https://standardschema.dev). */
export function toFieldError({ path = [], message }: { path?: unknown[]; message: string }): FieldError {
  return { field: path.map((part) => String(Object(part).key ?? part)).join('.'), reason: message }
}
