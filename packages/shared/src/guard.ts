import { BODY_LIMIT } from './contract.ts'

/**
 * What is refused before any routing, because routers disagree about it (a bad escape is 400 in one and raw text or
 * 404 elsewhere; all of them serve a request with two Host headers, which RFC 9112 section 3.2 says to refuse).
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
  if (isMalformedPath(target)) return 400
  if (host?.includes(',')) return 400
  if (contentLength && Number(contentLength) > BODY_LIMIT) return 413
  return undefined
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
