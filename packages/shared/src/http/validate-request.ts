/**
 * Finds malformed requests before any routing. Routers treat a bad escape differently (400, 404, or raw text), some cut a fragment off,
 * and none checks the Host, of which RFC 9112 section 3.2 allows one.
 * @param target the request target as it was sent
 * @param host the Host header; where it came twice, both values joined by a comma
 * @returns 400, or undefined for a valid request
 */
export function validateRequest(target: string, host: string | null | undefined): 400 | undefined {
  if (host && !isHost(host)) return 400
  if (target.includes('#')) return 400
  return isMalformedPath(target) ? 400 : undefined
}

/** `uri-host [ ":" port ]` (RFC 9110 section 7.2). No comma, which RFC 3986 would allow: it joins two headers. */
const HOST = /^(?:[\w.~!$&'()*+;=-]|%[\da-f]{2})*(?::\d*)?$|^\[[\da-f:.]+\](?::\d*)?$/i

/** The last valid one: most requests have the same. */
let known = ''

/** Whether this can be the value of one Host header. The empty string can. */
export function isHost(host: string): boolean {
  if (host === known) return true
  if (!HOST.test(host)) return false
  known = host
  return true
}

/** Whether the path has an escape that is not hexadecimal, not UTF-8, or NUL. */
export function isMalformedPath(target: string): boolean {
  if (!target.includes('%')) return false
  const query = target.indexOf('?')
  try {
    return decodeURIComponent(query === -1 ? target : target.slice(0, query)).includes('\0')
  } catch {
    return true
  }
}
