import type { IncomingMessage, RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { isHost } from './validate-request.ts'

/**
 * A listener for `createServer` that closes two gaps between RFC 9112 and Node's parser.
 *
 * - Some requests are ambiguous, because another parser could find their end elsewhere: a version other than HTTP/1 (Node's parser takes
 *   a request line without a version as HTTP/0.9), and a Transfer-Encoding in HTTP/1.0 or other than `chunked` (sections 6.1, 6.3).
 *   They get 400 and a closed connection. So does a target that is not a path.
 * - A target with scheme and authority becomes a path and a Host (section 3.2.2). Proxies send such targets; some routers reject them.
 *
 * A valid request costs four comparisons.
 */
export function rejectAmbiguousHttp(listener: RequestListener): RequestListener {
  const refused = new WeakSet<Socket>()
  let hasRefused = false // most servers never do, and need no look-up
  return (request, response) => {
    // The parser continues with the bytes after a rejected request.
    if (!(hasRefused && refused.has(request.socket)) && isFramed(request) && takePath(request)) {
      listener(request, response)
    } else {
      refused.add(request.socket)
      hasRefused = true
      response.writeHead(400, { connection: 'close', 'content-length': 0 }).end()
    }
  }
}

function isFramed({ httpVersionMajor, httpVersionMinor, headers }: IncomingMessage): boolean {
  if (httpVersionMajor !== 1) return false
  const coding = headers['transfer-encoding']
  return coding === undefined || (httpVersionMinor === 1 && coding.toLowerCase() === 'chunked')
}

const ABSOLUTE = /^https?:\/\/([^/?#]+)/i

/** @returns whether the target is a path now */
function takePath(request: IncomingMessage): boolean {
  const { url = '' } = request
  if (url.startsWith('/')) return true
  const [origin, authority] = ABSOLUTE.exec(url) ?? []
  if (origin === undefined || authority === undefined || !isHost(authority)) return false
  const path = url.slice(origin.length)
  request.url = path.startsWith('/') ? path : `/${path}`
  request.headers.host = authority
  return true
}
