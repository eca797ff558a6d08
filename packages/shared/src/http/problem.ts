import codes from 'statuses/codes.json' with { type: 'json' }

/** Problem details (RFC 9457) of type `about:blank`: they say what happened, and never why, because a cause may hold secrets. */

/** RFC 9110 renamed two. */
const TITLES: Readonly<Record<string, string>> = {
  ...codes,
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

export interface Problem {
  type: 'about:blank'
  title: string
  status: number
  errors?: readonly FieldError[]
}

/**
 * The body of a problem response.
 * @param status anything but a registered 4xx or 5xx becomes 500
 * @param errors the fields that are not valid
 */
export function createProblem(status: number, errors?: readonly FieldError[]): Problem {
  const known = isError(status) ? status : 500
  return { type: 'about:blank', title: TITLES[known] ?? '', status: known, ...(errors && { errors }) }
}

/** The same as JSON. */
export function problem(status: number, errors?: readonly FieldError[]): string {
  return JSON.stringify(createProblem(status, errors))
}

/**
 * The status of the response to a thrown value: its `status` or `statusCode` (as http-errors sets them) if that is 4xx or 5xx,
 * otherwise 500.
 */
export function errorStatus(error: unknown): number {
  if (typeof error !== 'object' || error === null) return 500
  const { status, statusCode } = error as { status?: unknown; statusCode?: unknown }
  const carried = typeof status === 'number' ? status : statusCode
  return typeof carried === 'number' && isError(carried) ? carried : 500
}

function isError(status: number): boolean {
  return status >= 400 && TITLES[status] !== undefined
}

/** Thrown by a handler to respond with a problem. It has both names of the status, because libraries read either. */
export class HttpProblem extends Error {
  override name = 'HttpProblem'
  readonly status: number
  readonly statusCode: number
  /** The fields that are not valid. */
  readonly errors: readonly FieldError[] | undefined

  constructor(
    status: number,
    { errors, ...options }: ErrorOptions & { errors?: readonly FieldError[] } = {},
  ) {
    super(TITLES[status] ?? `HTTP ${status}`, options)
    this.status = status
    this.statusCode = status
    this.errors = errors
  }
}
