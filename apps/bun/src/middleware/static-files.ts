import type { BunRequest } from 'bun'
import { findAsset, isFresh, readAssets } from '#shared/http/assets.ts'
import { IMMUTABLE } from '#shared/http/contract.ts'
import { sendProblem } from './errors.ts'

/** Serves files with a hash in their names, and their `.br` and `.gz` siblings from the build. A `Bun.file` does not select a sibling. */
export function staticFiles(root: URL) {
  const assets = readAssets(root)

  return ({ params, headers }: BunRequest<'/assets/:file'>): Response => {
    const asset = findAsset(assets, params.file, headers.get('accept-encoding'))
    if (asset === undefined) return sendProblem(404)
    const { type, coding, bytes, etag } = asset
    const caching = { etag, vary: 'Accept-Encoding', 'cache-control': IMMUTABLE }
    if (isFresh(headers.get('if-none-match'), etag))
      return new Response(null, { status: 304, headers: caching })
    return new Response(bytes, {
      headers: { ...caching, 'content-type': type, ...(coding && { 'content-encoding': coding }) },
    })
  }
}
