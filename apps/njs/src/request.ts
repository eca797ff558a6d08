/** The part of njs's request that the app uses: https://nginx.org/en/docs/njs/reference.html#http */
export interface Request {
  /** The query. A repeated name has an array of values. */
  readonly args: Readonly<Record<string, string | string[] | undefined>>
  readonly headersIn: Readonly<Record<string, string | undefined>>
  readonly headersOut: Record<string, string | undefined>
  /** The body, which NGINX has read; at most 64 KiB. */
  readonly requestText?: string
  /** Variables of NGINX, such as `req_id`, those of named groups in a location, and `client_scheme` and `client_host` as the client used them. */
  readonly variables: Readonly<Record<string, string | undefined>>
  /** Sends a response. Without a body, an error is NGINX's problem document (nginx/conf/server/problem.conf). */
  return(status: number, body?: string): void
}
