/** Problem details (RFC 9457) with `about:blank`: the status says it all, and nothing about the cause leaks. */

/** From the HTTP status registry; `http.STATUS_CODES` still has older names. */
const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** The JSON text of a problem. A status that is not in the table becomes 500. */
export function problem(status: number): string {
  const known = TITLES[status] === undefined ? 500 : status
  return `{"type":"about:blank","title":"${TITLES[known]}","status":${known}}`
}

/**
 * The status to answer for a value that a handler threw: a 4xx that it carries (`status` or `statusCode`, as http-errors
 * and others set them) and that has a title here, else 500.
 */
export function errorStatus(error: unknown): number {
  if (typeof error !== 'object' || error === null) return 500
  const { status, statusCode } = error as { status?: unknown; statusCode?: unknown }
  const carried = typeof status === 'number' ? status : statusCode
  return typeof carried === 'number' && carried < 500 && TITLES[carried] !== undefined ? carried : 500
}

/** Thrown by a handler to answer with a problem. Libraries read one or the other of the two status names. */
export class HttpProblem extends Error {
  override name = 'HttpProblem'
  readonly status: number
  readonly statusCode: number

  constructor(status: number, options?: ErrorOptions) {
    super(TITLES[status] ?? `HTTP ${status}`, options)
    this.status = status
    this.statusCode = status
  }
}
