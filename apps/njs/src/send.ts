import type { Request } from './request.ts'

/** `r.return()`, for which a client that has left is an error in NGINX's log. It is none of the app. */
export function send(r: Request, status: number, body: string): void {
  try {
    r.return(status, body)
  } catch (error) {
    if (!(error instanceof Error && error.message === 'failed to send response')) throw error
  }
}
