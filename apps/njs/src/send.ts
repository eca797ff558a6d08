import type { Request } from './request.ts'

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
