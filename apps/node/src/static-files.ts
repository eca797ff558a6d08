import { readdirSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { negotiate } from '@fastify/accept-negotiator'
import send from '@fastify/send'
import createError from 'http-errors'
import { type Route, route } from './router.ts'

const EXTENSIONS: Readonly<Record<string, string>> = { br: '.br', gzip: '.gz' }

/** Serves files with a hash in their names, and their `.br` and `.gz` siblings from the build. */
export function staticFiles(root: URL): Route {
  const options = { root: fileURLToPath(root), index: false, immutable: true, maxAge: '1y' }
  const names = new Set(readdirSync(root))

  return route('GET', '/assets/:name', async ({ request, response, params: { name } }) => {
    if (!names.has(name)) throw createError(404)
    const coding = negotiate(request.headers['accept-encoding'] ?? '', Object.keys(EXTENSIONS)) ?? ''
    const sibling = name + EXTENSIONS[coding]
    const isCoded = names.has(sibling)
    const file = await send(request, encodeURIComponent(isCoded ? sibling : name), options)
    if (file.type !== 'file') throw createError(file.statusCode)
    const coded = { 'Content-Encoding': coding, 'Content-Type': send.mime.getType(name) ?? '' }
    const headers = { ...file.headers, Vary: 'Accept-Encoding', ...(isCoded && coded) }
    await pipeline(file.stream, response.writeHead(file.statusCode, headers))
  })
}
