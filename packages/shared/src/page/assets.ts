import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { negotiate } from '@fastify/accept-negotiator'
import send from '@fastify/send'
import createError from 'http-errors'
import { ASSETS_DIR, vite } from '#shared/page/server.js'

const OPTIONS = { root: fileURLToPath(ASSETS_DIR), index: false, immutable: true, maxAge: '1y' }
const EXTENSIONS: Readonly<Record<string, string>> = { br: '.br', gzip: '.gz' }
const names = new Set(readdirSync(ASSETS_DIR))

/**
 * Opens a file with a hash in its name, or its `.br` or `.gz` sibling from the build. It is open when this resolves: a failure before is a
 * 500, not a cut response. Whoever gets the stream destroys it.
 * @throws {HttpError} 404, 412, 416
 */
export async function openAsset(request: Pick<IncomingMessage, 'method' | 'headers'>, name: string) {
  if (!names.has(name)) throw createError(404)
  const coding = negotiate(request.headers['accept-encoding'] ?? '', Object.keys(EXTENSIONS)) ?? ''
  const sibling = name + EXTENSIONS[coding]
  const isCoded = names.has(sibling)
  const file = await send(request as IncomingMessage, encodeURIComponent(isCoded ? sibling : name), OPTIONS)
  if (file.type === 'error') throw file.metadata.error
  await once(file.stream, 'readable')
  const coded = { 'Content-Encoding': coding, 'Content-Type': send.mime.getType(name) ?? '' }
  const headers = { ...file.headers, Vary: 'Accept-Encoding', ...(isCoded && coded) }
  return { status: file.statusCode, headers, stream: file.stream }
}

/** The same for a framework that responds with a `Response`. */
export async function fetchAsset(request: Request, name: string): Promise<Response> {
  if (vite) return vite.fetch(request)
  const { method, headers } = request
  const { stream, ...init } = await openAsset({ method, headers: Object.fromEntries(headers) }, name)
  const hasBody = method !== 'HEAD' && init.status !== 304
  return new Response(hasBody ? (Readable.toWeb(stream) as ReadableStream) : null, init)
}
