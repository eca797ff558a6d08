import type { App } from '@startgrid/grid/matrix.ts'
import { mapImports } from './imports.ts'
import { relativeImport, resolveImport } from './tree.ts'

/** Where things are in a project. */

/** What builds the page, and what browsers and server see of it. */
export const PAGE_ROOTS = [
  'shared/page/vite.config.ts',
  'shared/page/entry-client.tsx',
  'shared/page/entry-server.tsx',
]

/** Where each file belongs in a project; imports follow. */
export function moveFiles({ framework }: App, tracked: ReadonlyMap<string, string>): Map<string, string> {
  const app = `apps/${framework}/`
  const move = (path: string): string => path.replace(/^packages\/shared\/src\//, 'shared/').replace(app, '')
  const moved = new Map<string, string>()
  for (const [path, text] of tracked) {
    const to = move(path)
    const follow = (from: string): string => {
      const target = from.startsWith('.') ? resolveImport(path, from) : undefined
      return target === undefined ? from : relativeImport(to, move(target))
    }
    moved.set(to, /\.tsx?$/.test(path) ? mapImports(path, text, follow) : text)
  }
  return moved
}

/** What Vite and the type checker read beside the sources: styles, pictures, `env.d.ts`. */
export function listPageAssets(files: ReadonlyMap<string, string>): [string, string][] {
  return [...files].filter(
    ([path]) => path.startsWith('shared/page/') && (!/\.tsx?$/.test(path) || path.endsWith('/env.d.ts')),
  )
}
