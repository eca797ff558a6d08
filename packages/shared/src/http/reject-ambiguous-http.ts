import type { IncomingMessage, RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { isHost } from './validate-request.ts'

/**
 * A listener for `createServer` that does what RFC 9112 asks of a server and Node's parser leaves undone.
 *
 * - Two readers could disagree where the request ends: a version other than HTTP/1 (the parser takes a line without one for
 *   HTTP/0.9, and headers and a body behind it), Transfer-Encoding in HTTP/1.0 or other than `chunked` (sections 6.1, 6.3).
 *   It is answered like what the parser refuses, 400 and the end of the connection, and so is a target that is no path.
 * - A target with scheme and authority becomes the path and the Host (section 3.2.2): proxies send it, some routers do not know it.
 *
 * It costs a sound request four comparisons.
 */
export function rejectAmbiguousHttp(listener: RequestListener): RequestListener {
  const refused = new WeakSet<Socket>()
  return (request, response) => {
    // The parser goes on with what lies behind a refused request.
    if (!refused.has(request.socket) && isFramed(request) && takePath(request)) {
      listener(request, response)
    } else {
      refused.add(request.socket)
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

/** @returns whether the target is a path by now */
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
