import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Router } from 'express'
import expressStaticGzip from 'express-static-gzip'
import { prepareAssetRequest } from '#shared/http/assets.ts'

/** Serves files whose names change with their content, with `.br` and `.gz` siblings made at build time. */
export function staticFiles(root: URL): Router {
  return Router()
    .all('/assets/*file', (request, response, next) => {
      // A response that waits behind another in a pipeline gets no event when the client leaves: its file would stay open.
      response.once('pipe', (file: Readable) => request.once('close', () => file.destroy()))
      // express-static-gzip gives `*` precedence over `br;q=0`, serves the siblings as files, and adds `vary` to a 404.
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      next(isRead && prepareAssetRequest(request) ? 'route' : 'router')
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
