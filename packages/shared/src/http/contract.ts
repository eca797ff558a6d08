/** Values of requests and responses: media types and limits. */

export const PLAIN_TEXT = 'text/plain; charset=utf-8'
export const JSON_TEXT = 'application/json; charset=utf-8'
export const HTML = 'text/html; charset=utf-8'
export const HEALTH_JSON = 'application/health+json'
export const PROBLEM_JSON = 'application/problem+json'

/** Bytes; a larger request body is 413. */
export const BODY_LIMIT = 65_536

/** Bytes of request line and headers; more is 431. This is Node's default, written down because proxies need the same limit. */
export const HEADER_LIMIT = 16_384

/** `cache-control` of HTML with a nonce or a request id: a cache must not give it to another client. */
export const PRIVATE = 'private, no-store'

/** `cache-control` of files with a hash in their names: their content never changes. */
export const IMMUTABLE = 'public, max-age=31536000, immutable'

/** The `retry-after` of a refused page, in seconds. A person takes longer to reload, and by then the queue is gone. */
export const RETRY_AFTER = '1'

/** Milliseconds for which a connection may still send a request after the server stopped listening. */
export const QUIET_MS = 100

/**
 * Milliseconds that WebSockets have to close after `health.signal` has told them to, and new connections to send their first request. Then
 * they are cut, because they have no end.
 */
export const LINGER_MS = 2_000

/** Whether this is the path of a health check. Orchestrators request them every few seconds, so they are not logged. */
export function isProbe(path: string): boolean {
  return path === '/livez' || path === '/readyz'
}
