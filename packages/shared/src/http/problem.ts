/** Problem details (RFC 9457) of type `about:blank`: they say what happened, and never why, because a cause may hold secrets. */

/** From the HTTP status registry. `http.STATUS_CODES` has older names, and some runtimes lack it. */
const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  411: 'Length Required',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  417: 'Expectation Failed',
  418: "I'm a Teapot",
  421: 'Misdirected Request',
  422: 'Unprocessable Content',
  423: 'Locked',
  424: 'Failed Dependency',
  425: 'Too Early',
  426: 'Upgrade Required',
  428: 'Precondition Required',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  451: 'Unavailable For Legal Reasons',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  507: 'Insufficient Storage',
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
 * @param status a status without a title becomes 500
 * @param errors the fields that are not valid
 */
export function createProblem(status: number, errors?: readonly FieldError[]): Problem {
  const known = TITLES[status] === undefined ? 500 : status
  const title = TITLES[known] ?? ''
  return { type: 'about:blank', title, status: known, ...(errors && { errors }) }
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
  return typeof carried === 'number' && TITLES[carried] !== undefined ? carried : 500
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
