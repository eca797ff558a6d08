import { BODY_LIMIT } from './contract.ts'

/**
 * What is refused before any routing, because routers disagree about it (a bad escape is 400 in one and raw text or
 * 404 elsewhere, a fragment is cut off or not), or serve what RFC 9112 section 3.2 says to refuse: a Host that is none, or two.
 * @param target the request target as it was sent
 * @param host the Host header; where it came twice, both values joined by a comma
 * @param contentLength the Content-Length header
 * @returns the status to answer, or undefined to go on
 */
export function refusal(
  target: string,
  host: string | null | undefined,
  contentLength: string | null | undefined,
): 400 | 413 | undefined {
  if (host && !isHost(host)) return 400
  if (target.includes('#')) return 400
  if (isMalformedPath(target)) return 400
  if (contentLength && Number(contentLength) > BODY_LIMIT) return 413
  return undefined
}

/** `uri-host [ ":" port ]` (RFC 9110 section 7.2). No comma, which RFC 3986 would allow: it joins two headers. */
const HOST = /^(?:[\w.~!$&'()*+;=-]|%[\da-f]{2})*(?::\d*)?$|^\[[\da-f:.]+\](?::\d*)?$/i

/** The last one that was one: nearly every request has the same. */
let known = ''

/** Whether it can be the value of one Host header; empty can. */
export function isHost(host: string): boolean {
  if (host === known) return true
  if (!HOST.test(host)) return false
  known = host
  return true
}

/** Whether the path has an escape that is not hex, is not UTF-8, or is NUL. */
export function isMalformedPath(target: string): boolean {
  if (!target.includes('%')) return false
  const query = target.indexOf('?')
  try {
    return decodeURIComponent(query === -1 ? target : target.slice(0, query)).includes('\0')
  } catch {
    return true
  }
}
