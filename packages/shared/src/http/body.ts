import { Readable } from 'node:stream'
import { HttpProblem } from './http-problem.ts'
import { BODY_LIMIT } from './validate-request.ts'

/**
 * Reads a request body. It may be chunked, so its length is not known in advance.
 * @param chunks a Node or web stream
 * @param limit bytes
 * @throws {HttpProblem} 413 as soon as the limit is passed; the rest is discarded
 */
export async function readBody(chunks: AsyncIterable<Uint8Array>, limit = BODY_LIMIT): Promise<Buffer> {
  // Without this option, leaving the loop early destroys a Node request, and the response needs its connection.
  const kept = chunks instanceof Readable ? chunks.iterator({ destroyOnReturn: false }) : chunks
  const parts: Uint8Array[] = []
  let length = 0
  for await (const chunk of kept) {
    length += chunk.length
    if (length > limit) break
    parts.push(chunk)
  }
  if (length > limit) {
    // Node discards an unread body by itself, but not one that was read in part.
    if (chunks instanceof Readable) chunks.resume()
    throw new HttpProblem(413)
  }
  return Buffer.concat(parts, length)
}
