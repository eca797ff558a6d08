import { createMiddleware } from 'hono/factory'
import { findAsset, isFresh, readAssets } from '#shared/http/assets.ts'
import { IMMUTABLE } from '#shared/http/contract.ts'

/**
 * Serves files with a hash in their names, and their `.br` and `.gz` siblings from the build. Hono's `serveStatic` has no entity tags, and
 * `etag()` hashes each response, so a part of a file would get another tag than the whole file.
 */
export function staticFiles(root: URL) {
  const assets = readAssets(root)

  return createMiddleware<object, '/:file'>(async (c) => {
    const asset = findAsset(assets, c.req.param('file'), c.req.header('accept-encoding'))
    if (asset === undefined) return c.notFound()
    c.header('etag', asset.etag)
    c.header('vary', 'Accept-Encoding')
    c.header('cache-control', IMMUTABLE)
    if (isFresh(c.req.header('if-none-match'), asset.etag)) return c.body(null, 304)
    if (asset.coding) c.header('content-encoding', asset.coding)
    return c.body(asset.bytes, 200, { 'content-type': asset.type })
  })
}
