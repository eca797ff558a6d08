import { randomBytes, randomUUID } from 'node:crypto'

const VALID = /^[A-Za-z0-9._-]{1,64}$/

/**
 * The id of a request: the inbound one if a proxy or caller sent an acceptable one, so that logs join up, else a new one.
 * @param inbound the `x-request-id` header
 */
export function requestId(inbound: string | string[] | null | undefined): string {
  return typeof inbound === 'string' && VALID.test(inbound) ? inbound : randomUUID()
}

/** A content-security-policy nonce: 18 random bytes as 24 characters of base64 (CSP3 asks for at least 128 bits). */
export function createNonce(): string {
  return randomBytes(18).toString('base64')
}
