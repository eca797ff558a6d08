import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Router } from 'express'
import expressStaticGzip from 'express-static-gzip'
import { prepareAssetRequest } from '#shared/http/assets.ts'

/** Serves files with a hash in their names, and their `.br` and `.gz` siblings from the build. */
export function staticFiles(root: URL): Router {
  return Router()
    .all('/assets/*file', (request, response, next) => {
      // A pipelined response that waits behind another gets no event when the client leaves. Without this, its file would stay open.
      response.once('pipe', (file: Readable) => request.once('close', () => file.destroy()))
      // express-static-gzip gives `*` precedence over `br;q=0`, serves the siblings as files, and adds `vary` to a 404.
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      const accepts = (coding: string) => request.acceptsEncodings(coding)
      next(isRead && prepareAssetRequest(request, accepts) ? 'route' : 'router')
    })
    .use(
      '/assets',
      expressStaticGzip(fileURLToPath(root), {
        enableBrotli: true,
        orderPreference: ['br', 'gzip'],
        index: false,
        serveStatic: { immutable: true, maxAge: '1y', redirect: false },
      }),
    )
}
