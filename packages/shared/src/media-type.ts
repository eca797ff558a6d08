import createError from 'http-errors'

/**
 * For what reads JSON, and decodes none. A form of another site can send what says text/plain or nothing. RFC 6839 has `+json`.
 * @throws an error that becomes a 415
 */
export function requireJson(headers: Headers | { [name: string]: unknown }): void {
  const read = (name: string) =>
    String((headers instanceof Headers ? headers.get(name) : headers[name]) ?? '')
  const isJson = /^application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i.test(read('content-type'))
  if (!isJson || !/^(identity)?$/i.test(read('content-encoding'))) throw createError(415)
}
