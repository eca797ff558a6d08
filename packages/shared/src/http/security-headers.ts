/**
 * The security headers of every response; a route may replace them. HSTS is the task of the TLS terminator. The list is our own, because
 * libraries for security headers have different defaults.
 */
export const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

/**
 * The content security policy of an HTML page. It has no `upgrade-insecure-requests`: Safari would apply it to localhost.
 * @param nonce from `createNonce`, one per request
 */
export function pagePolicy(nonce: string): string {
  return (
    `default-src 'none'; script-src 'nonce-${nonce}' 'strict-dynamic'; style-src 'self'; img-src 'self' data:; ` +
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
  )
}
