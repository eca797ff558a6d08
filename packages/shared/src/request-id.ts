import { randomUUID } from 'node:crypto'

/** Keeps a valid inbound x-request-id, so that the logs of all services can be joined. */
export function requestId(inbound: unknown): string {
  return typeof inbound === 'string' && /^[\w-]{1,64}$/.test(inbound) ? inbound : randomUUID()
}
