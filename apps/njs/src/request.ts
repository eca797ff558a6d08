/** What the app uses of https://nginx.org/en/docs/njs/reference.html#http. The globals of njs's own types collide with those of @types/node. */
export interface Request {
  /** The query. A repeated name has an array of values. */
  readonly args: Readonly<Record<string, string | string[] | undefined>>
  readonly headersIn: Readonly<Record<string, string | undefined>>
  readonly headersOut: Record<string, string | undefined>
  /** The body, which NGINX has read; at most 64 KiB. */
  readonly requestBuffer?: Uint8Array
  /** Variables of NGINX, such as `req_id`, those of named groups in a location, and `client_scheme` and `client_host` as the client used them. */
  readonly variables: Readonly<Record<string, string | undefined>>
  /** Sends a response. Without a body, an error is NGINX's problem document (nginx/conf/server/problem.conf). */
  return(status: number, body?: string): void
}

/** The body as UTF-8, without a mark of the order of its bytes. `r.requestText` keeps it, and has bytes then. */
export function textOf({ requestBuffer }: Request): string {
  return requestBuffer ? new TextDecoder().decode(requestBuffer) : ''
}

/** `r.return()`, for which a client that has left is an error in NGINX's log. It is none of the app. */
export function send(r: Request, status: number, body: string): void {
  try {
    r.return(status, body)
  } catch (error) {
    if (!(error instanceof Error && error.message === 'failed to send response')) throw error
  }
}

/** Problem details (RFC 9457). `r.return(404)` and those of nginx/conf/server/problem.conf need no body. */
export function sendProblem(r: Request, status: number, title: string, more: object): void {
  r.headersOut['content-type'] = 'application/problem+json'
  send(r, status, JSON.stringify({ type: 'about:blank', title, status, ...more }))
}
