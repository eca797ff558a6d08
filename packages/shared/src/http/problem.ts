// Not `statuses/codes.json`: in some runtimes, packages that `require` that file would then get an ES module.
import statuses from 'statuses'

/** The media type of all errors. */
export const PROBLEM_JSON = 'application/problem+json'

/** RFC 9110 renamed two. */
const TITLES: typeof statuses.message = {
  ...statuses.message,
  413: 'Content Too Large',
  422: 'Unprocessable Content',
}

/** A field of the request that is not valid. */
export interface FieldError {
  /** The name of the field, such as `items`. The parts of a nested name are joined by dots. */
  field: string
  /** A message for a person, such as `must be <= 1000`. */
  reason: string
}

/** Problem details (RFC 9457). They never have the message of a 5xx, because it may hold secrets. */
export interface Problem {
  type: 'about:blank'
  title: string
  status: number
  detail?: string
  errors?: readonly FieldError[]
}

/** What a client may know about an error. */
export interface Explanation {
  /** A sentence for a person. */
  detail?: string | undefined
  /** The fields that are not valid. */
  errors?: readonly FieldError[] | undefined
}

/**
 * The body of a problem response.
 * @param status anything but 400 to 599 becomes 500
 */
export function createProblem(status: number, { detail, errors }: Explanation = {}): Problem {
  const known = isErrorStatus(status) ? status : 500
  const title = TITLES[known] ?? (known < 500 ? 'Client Error' : 'Server Error')
  return { type: 'about:blank', title, status: known, ...(detail && { detail }), ...(errors && { errors }) }
}

/** The same as JSON. */
export function problem(status: number): string {
  return JSON.stringify(createProblem(status))
}

/** The response to a thrown value. */
export interface ErrorResponse {
  status: number
  /** Such as `retry-after` or `www-authenticate`. */
  headers: Readonly<Record<string, string>>
  problem: Problem
}

/** What a framework knows about a thrown value. */
interface Known {
  /** The status of the response, if the value does not decide it. */
  status?: number | undefined
  /** Whether the framework shows the message to clients. By default `error.expose`, as http-errors sets it. */
  isPublic?: boolean | undefined
  /** The fields that are not valid. */
  errors?: readonly FieldError[] | undefined
}

/** Members of errors of http-errors, of Zod and of the file system. */
type Thrown = Readonly<
  Record<'name' | 'message' | 'status' | 'statusCode' | 'expose' | 'headers' | 'errors' | 'syscall', unknown>
>

/**
 * Reads a thrown value: its `status` or `statusCode`, `headers`, `errors`, and its message if that is public. A `ZodError` is a 400 that
 * names the fields, so routes use `schema.parse` for requests only, and `safeParse` for other data.
 */
export function describeError(error: unknown, known: Known = {}): ErrorResponse {
  const thrown: Thrown = Object(error)
  const invalid = readZodIssues(error)
  const { status = invalid ? 400 : ([thrown.status, thrown.statusCode].find(isErrorStatus) ?? 500) } = known
  const headers = readHeaders(thrown.headers)
  if (status >= 500) return { status, headers, problem: createProblem(status) }
  // http-errors exposes every 4xx, also one made from an error of the file system, which names a path of the server.
  const isPublic = (known.isPublic ?? thrown.expose === true) && !invalid && thrown.syscall === undefined
  const detail = isPublic ? readDetail(thrown.message, status) : undefined
  const errors = known.errors ?? invalid ?? (isFieldErrors(thrown.errors) ? thrown.errors : undefined)
  return { status, headers, problem: createProblem(status, { detail, errors }) }
}

function isErrorStatus(status: unknown): status is number {
  return Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599
}

/** A message that only repeats the title, as http-errors has by default, says nothing. */
function readDetail(message: unknown, status: number): string | undefined {
  const isTitle = message === statuses.message[status] || message === TITLES[status]
  return typeof message === 'string' && !isTitle ? message : undefined
}

/** Without the type and the length, because the problem has its own. */
function readHeaders(headers: unknown): Record<string, string> {
  const kept: Record<string, string> = {}
  if (typeof headers !== 'object' || headers === null) return kept
  for (const [name, value] of Object.entries(headers)) {
    if (!/^content-(?:type|length)$/i.test(name)) kept[name] = value
  }
  return kept
}

function isFieldErrors(errors: unknown): errors is readonly FieldError[] {
  if (!Array.isArray(errors)) return false
  return errors.every((error) => typeof error?.field === 'string' && typeof error.reason === 'string')
}

/** Compares the name, because `instanceof` would load Zod (17 MB) into apps that do not use it. */
function readZodIssues(error: unknown): FieldError[] | undefined {
  if (!(error instanceof Error && error.name === 'ZodError')) return undefined
  const { issues } = error as Error & { issues: readonly { path: readonly PropertyKey[]; message: string }[] }
  return issues.map(({ path, message }) => ({ field: path.join('.'), reason: message }))
}
