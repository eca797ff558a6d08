import { Readable } from 'node:stream'
import { BODY_LIMIT } from './contract.ts'
import { HttpProblem } from './problem.ts'

/**
 * Reads a request body that may be chunked, so that its length is only known when it has come.
 * @param chunks a Node or web stream
 * @param limit bytes
 * @throws {HttpProblem} 413 as soon as the limit is passed; the rest is not kept
 */
export async function readBody(chunks: AsyncIterable<Uint8Array>, limit = BODY_LIMIT): Promise<Buffer> {
  // Leaving the loop early would destroy a Node request, and with it the connection that the answer needs.
  const kept = chunks instanceof Readable ? chunks.iterator({ destroyOnReturn: false }) : chunks
  const parts: Uint8Array[] = []
  let length = 0
  for await (const chunk of kept) {
    length += chunk.length
    if (length > limit) break
    parts.push(chunk)
  }
  if (length > limit) {
    // Node discards what nobody reads, but not once somebody has begun to.
    if (chunks instanceof Readable) chunks.resume()
    throw new HttpProblem(413)
  }
  return Buffer.concat(parts, length)
}
