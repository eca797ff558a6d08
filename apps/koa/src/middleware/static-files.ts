import { fileURLToPath } from 'node:url'
import type { RouterMiddleware } from '@koa/router'
import { send } from '@koa/send'
import { prepareAssetRequest } from '#shared/http/assets.ts'
import { IMMUTABLE } from '#shared/http/contract.ts'

/** Serves files with a hash in their names, and their `.br` and `.gz` siblings from the build. */
export function staticFiles(root: URL): RouterMiddleware {
  return async (ctx) => {
    // @koa/send serves the siblings as files. It has no entity tags, and its cache-control is not public.
    if (!prepareAssetRequest(ctx.req, (coding) => ctx.acceptsEncodings(coding))) ctx.throw(404)
    const sent = await send(ctx, ctx.path.slice('/assets/'.length), {
      root: fileURLToPath(root),
      setHeaders: (_response, _path, { size, mtimeMs }) => {
        ctx.set('cache-control', IMMUTABLE)
        ctx.etag = `W/"${size.toString(16)}-${mtimeMs.toString(16)}"`
      },
    })
    if (sent === undefined) return
    ctx.vary('Accept-Encoding')
    if (!ctx.fresh) return
    ctx.status = 304
    ctx.remove('content-encoding')
  }
}
