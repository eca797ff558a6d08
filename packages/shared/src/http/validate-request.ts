/** Bytes; a larger request body is 413. */
export const BODY_LIMIT = 65_536

/** Bytes of request line and headers; more is 431. This is Node's default, written down because proxies need the same limit. */
export const HEADER_LIMIT = 16_384

/**
 * Finds malformed requests before routing. Routers treat a bad escape differently (400, 404, or raw text), some cut off a fragment, and
 * none checks the Host. RFC 9112 section 3.2 allows exactly one.
 * @param target the request target as it was sent
 * @param host the Host header; two of them are joined by a comma
 * @returns 400, or undefined for a valid request
 */
export function validateRequest(target: string, host: string | null | undefined): 400 | undefined {
  if (host && !isHost(host)) return 400
  if (target.includes('#')) return 400
  return isMalformedPath(target) ? 400 : undefined
}

/** `uri-host [ ":" port ]` (RFC 9110 section 7.2). RFC 3986 also allows a comma, but here a comma means two Host headers. */
const HOST = /^(?:[\w.~!$&'()*+;=-]|%[\da-f]{2})*(?::\d*)?$|^\[[\da-f:.]+\](?::\d*)?$/i

/** The last valid Host, because most requests have the same. */
let known = ''

/** Whether this is a valid Host header. The empty string is valid. */
export function isHost(host: string): boolean {
  if (host === known) return true
  if (!HOST.test(host)) return false
  known = host
  return true
}

/** Whether an escape in the path is not hexadecimal, not UTF-8, or NUL. */
export function isMalformedPath(target: string): boolean {
  if (!target.includes('%')) return false
  const query = target.indexOf('?')
  try {
    return decodeURIComponent(query === -1 ? target : target.slice(0, query)).includes('\0')
  } catch {
    return true
  }
}
