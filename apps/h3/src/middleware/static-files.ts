import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type EventHandler, HTTPError, serveStatic } from 'h3'

/**
 * The files of a folder, compressed at build time where the client accepts that. h3 itself refuses paths that leave the folder.
 * @param base the path of the route before `/**`
 */
export function serveFiles(
  base: string,
  directory: string,
  headers: Record<string, string> = {},
): EventHandler {
  const place = (id: string) => join(directory, id.slice(base.length))
  return (event) => {
    if (event.url.pathname.endsWith('/')) throw new HTTPError({ status: 404 }) // serveStatic ignores the slash
    return serveStatic(event, {
      encodings: { br: '.br', gzip: '.gz' },
      headers,
      indexNames: [],
      getContents: (id) => readFile(place(id)),
      async getMeta(id) {
        const file = await stat(place(id)).catch(() => undefined)
        if (!file?.isFile()) return undefined
        const encoding = /\.(br|gz)$/.exec(id)?.[1]
        return {
          size: file.size,
          mtime: file.mtimeMs,
          ...(encoding && { encoding: encoding === 'gz' ? 'gzip' : 'br' }),
        }
      },
    })
  }
}
