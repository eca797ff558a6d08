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

/** `cache-control` of HTML with a nonce or a request id: a cache must not give it to another client. */
export const PRIVATE = 'private, no-store'

/** What a page may load beside its own files, by directive: `{ 'img-src': 'https://images.example' }`. */
export type PageSources = Readonly<
  Partial<Record<'connect-src' | 'font-src' | 'frame-src' | 'img-src' | 'media-src' | 'style-src', string>>
>

/**
 * The content security policy of an HTML page. It has no `upgrade-insecure-requests`: Safari would apply it to localhost.
 * @param nonce from `createNonce`, one per request
 */
export function pagePolicy(nonce: string, sources: PageSources = {}): string {
  const policy =
    `default-src 'none'; script-src 'nonce-${nonce}' 'strict-dynamic'; style-src 'self'; img-src 'self' data:; ` +
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
  // A browser ignores the second of two directives, so a source joins the directive that is there.
  return Object.entries(sources).reduce(
    (all, [name, source]) =>
      all.includes(`; ${name} `)
        ? all.replace(`; ${name} `, `; ${name} ${source} `)
        : `${all}; ${name} ${source}`,
    policy,
  )
}
