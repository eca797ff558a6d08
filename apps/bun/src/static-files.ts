import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { negotiate } from '@fastify/accept-negotiator'
import type { BunRequest } from 'bun'
import createError from 'http-errors'

const EXTENSIONS: Readonly<Record<string, string>> = { br: '.br', gzip: '.gz' }

/** Serves files with a hash in their names, and their `.br` and `.gz` siblings from the build. A `Bun.file` does not select a sibling. */
export function staticFiles(root: URL) {
  const directory = fileURLToPath(root)
  const names = new Set(readdirSync(directory))

  return ({ params: { file }, headers }: BunRequest<'/assets/:file'>): Response => {
    if (!names.has(file)) throw createError(404)
    const coding = negotiate(headers.get('accept-encoding') ?? '', Object.keys(EXTENSIONS)) ?? ''
    const sibling = file + EXTENSIONS[coding]
    const isCoded = names.has(sibling)
    return new Response(Bun.file(join(directory, isCoded ? sibling : file)), {
      headers: {
        'content-type': Bun.file(file).type,
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'Accept-Encoding',
        ...(isCoded && { 'content-encoding': coding }),
      },
    })
  }
}
