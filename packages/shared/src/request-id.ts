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
