import createError from 'http-errors'
import { requireJson } from '#shared/media-type.ts'

const MAX_BYTES = 64 * 1024

/**
 * The body as JSON. The limit of `Bun.serve` is that of the route that takes the largest body.
 * @throws an error with status 400, 413 or 415. That of `request.json()` looks like a mistake of the app
 */
export async function readJson(request: Request): Promise<unknown> {
  requireJson(request.headers)
  const body = await request.bytes()
  if (body.length > MAX_BYTES) throw createError(413)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (cause) {
    throw createError(400, 'The body is not JSON.', { cause })
  }
}
