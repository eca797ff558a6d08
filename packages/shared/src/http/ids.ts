import { randomBytes, randomUUID } from 'node:crypto'

const VALID = /^[A-Za-z0-9._-]{1,64}$/

/**
 * The id of a request. A valid inbound id is kept, so that the logs of all services can be joined. Otherwise it is new: 32 hexadecimal
 * digits, like NGINX's `$request_id`.
 * @param inbound the `x-request-id` header
 */
export function requestId(inbound: string | string[] | null | undefined): string {
  return typeof inbound === 'string' && VALID.test(inbound) ? inbound : randomUUID().replaceAll('-', '')
}

/** A content-security-policy nonce: 18 random bytes as 24 characters of base64 (CSP3 asks for at least 128 bits). */
export function createNonce(): string {
  return randomBytes(18).toString('base64')
}
