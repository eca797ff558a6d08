import { randomBytes } from 'node:crypto'

const VALID = /^[A-Za-z0-9._-]{1,64}$/

/**
 * The id of a request. A valid inbound id is kept, so that the logs of all services can be joined. Otherwise it is new: 32 hexadecimal
 * digits, like NGINX's `$request_id`.
 * @param inbound the `x-request-id` header
 */
export function requestId(inbound: string | string[] | null | undefined): string {
  if (typeof inbound === 'string' && (inbound === latest || VALID.test(inbound))) return inbound
  latest = randomId()
  return latest
}

/** Digits of an id: 16 bytes. */
const ID_DIGITS = 32
const BATCH_BYTES = 4096

/** Random digits for the next ids: one call makes 128 of them. */
let digits = ''
let used = 0

/** The last new id. `protect` sets it on the request, and then the app asks for it once more. */
let latest = randomId()

function randomId(): string {
  if (used === digits.length) {
    digits = randomBytes(BATCH_BYTES).toString('hex')
    used = 0
  }
  used += ID_DIGITS
  return digits.slice(used - ID_DIGITS, used)
}

/** A content-security-policy nonce: 18 random bytes as 24 characters of base64 (CSP3 asks for at least 128 bits). */
export function createNonce(): string {
  return randomBytes(18).toString('base64')
}
