import type { IncomingMessage } from 'node:http'
import createError from 'http-errors'

/**
 * Reads the body of a request. Of one that is too long, the rest is discarded, because the response needs the connection.
 * @param limit bytes
 * @throws {HttpError} 413
 */
export function readBody(request: IncomingMessage, limit = 64 * 1024): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= limit) chunks.push(chunk)
      else reject(createError(413))
    })
    request.once('end', () => resolve(Buffer.concat(chunks)))
    request.once('error', reject)
  })
}
