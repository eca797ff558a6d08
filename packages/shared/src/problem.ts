import { STATUS_CODES } from 'node:http'

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
 * the message of a 4xx. Of a `ZodError`: the fields. Everything else is a 500, such as the 401 that an upstream service sent.
 */
export function toProblem(error: unknown): {
  status: number
  headers: Record<string, string>
  problem: Problem
} {
  const {
    name,
    issues,
    expose,
    statusCode,
    status = statusCode,
    headers = {},
    message,
    syscall,
    code,
    errcode = 0,
  } = Object(error)
  if (name === 'ZodError')
    return {
      status: 400,
      headers: NO_STORE,
      problem: createProblem(400, { errors: issues.map(toFieldError) }),
    }
  // SQLite has waited for another process in vain (https://sqlite.org/rescode.html#busy): of node:sqlite, and of Bun.
  if ((errcode & 255) === 5 || String(code).startsWith('SQLITE_BUSY'))
    return { status: 503, headers: { ...NO_STORE, 'retry-after': '1' }, problem: createProblem(503) }
  if (typeof expose !== 'boolean' || !(status >= 400 && status <= 599))
    return { status: 500, headers: NO_STORE, problem: createProblem(500) }
  // An error of the file system names a path of the server, and is exposed by http-errors as well.
  const isPublic = expose && status < 500 && syscall === undefined && message !== STATUS_CODES[status]
  const problem = createProblem(status, isPublic ? { detail: message } : {})
  return { status, headers: { ...NO_STORE, ...headers }, problem }
}

/** Of Zod, or of any other Standard Schema (https://standardschema.dev). */
export function toFieldError({ path = [], message }: { path?: unknown[]; message: string }): FieldError {
  return { field: path.map((part) => String(Object(part).key ?? part)).join('.'), reason: message }
}
