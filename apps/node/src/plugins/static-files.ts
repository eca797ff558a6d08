import { findAsset, isFresh, readAssets } from '#shared/http/assets.ts'
import { IMMUTABLE } from '#shared/http/contract.ts'
import { HttpProblem } from '#shared/http/problem.ts'
import { type Route, route } from '../router.ts'

/** Serves files with a hash in their names from memory, and their `.br` and `.gz` siblings from the build. */
export function staticFiles(root: URL): Route {
  const files = readAssets(root)

  return route('GET', '/assets/:name', (context) => {
    const { request, response } = context
    const file = findAsset(files, context.params.name, request.headers['accept-encoding'])
    if (file === undefined) throw new HttpProblem(404)
    response
      .setHeader('cache-control', IMMUTABLE)
      .setHeader('etag', file.etag)
      .setHeader('vary', 'Accept-Encoding')
    if (isFresh(request.headers['if-none-match'], file.etag)) {
      response.writeHead(304).end()
    } else {
      if (file.coding !== undefined) response.setHeader('content-encoding', file.coding)
      context.send(200, file.type, file.bytes)
    }
  })
}
