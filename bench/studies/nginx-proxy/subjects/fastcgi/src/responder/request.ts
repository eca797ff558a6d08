import { decodePairs } from './pairs.ts'
import type { StreamBuffer } from './stream-buffer.ts'

/** A request as the web server passed it on, body included. */
export interface Request {
  method: string
  /** The request target as the client sent it: REQUEST_URI, which CGI/1.1 does not have and every web server sends. */
  url: string
  /** The variables of CGI/1.1 (RFC 3875): headers are `HTTP_` and their name in capitals with underscores. */
  params: ReadonlyMap<string, string>
  body: Buffer
  /** The status to refuse it with: malformed (400), or a body (413) or params (431) over the limit. Those are empty then. */
  refusal: 400 | 413 | 431 | undefined
}

/** Reads a request from its two streams, which have ended. */
export function readRequest(paramStream: StreamBuffer, stdin: StreamBuffer): Request {
  const decoded = decodePairs(paramStream.bytes)
  const params = decoded ?? new Map<string, string>()
  const method = params.get('REQUEST_METHOD')
  const url = params.get('REQUEST_URI')
  const malformed = method === undefined || url === undefined || !isWhole(stdin, params.get('CONTENT_LENGTH'))
  return {
    method: method ?? '',
    url: url ?? '',
    params,
    body: stdin.bytes,
    refusal: paramStream.overflowed ? 431 : stdin.overflowed ? 413 : malformed ? 400 : undefined,
  }
}

/** Section 6.2: a responder compares the bytes that came with those announced. */
function isWhole(stdin: StreamBuffer, contentLength: string | undefined): boolean {
  return !contentLength || stdin.overflowed || Number(contentLength) === stdin.bytes.length
}
