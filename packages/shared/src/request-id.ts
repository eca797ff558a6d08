import { randomUUID } from 'node:crypto'

/**
 * Keeps a valid inbound x-request-id, so that the logs of all services can be joined. One of ours has 32 digits, like those of NGINX: a page
 * that contains it is as long directly as behind NGINX.
 */
export function requestId(inbound: unknown): string {
  return typeof inbound === 'string' && /^[\w-]{1,64}$/.test(inbound)
    ? inbound
    : randomUUID().replaceAll('-', '')
}

/** The trace id of an inbound `traceparent` header: https://www.w3.org/TR/trace-context/#traceparent-header */
export function traceId(traceparent: string | string[] | null | undefined): string | undefined {
  return /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/.exec(String(traceparent))?.[1]
}
