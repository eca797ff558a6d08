/** Whether a body says that it is JSON (RFC 6839 for `+json`). A form of another site can send what says text/plain or nothing. */
export function isJson(type: string | null | undefined): boolean {
  return /^application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i.test(type ?? '')
}
