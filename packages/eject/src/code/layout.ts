import type { App } from '@startgrid/grid/apps.ts'
import { mapImports } from './imports.ts'
import { relativeImport, resolveImport } from './tree.ts'

/** The layout of a project. */

/** The files that build the page, and those that browsers and the server load. */
export const PAGE_ROOTS = [
  'shared/page/vite.config.ts',
  'shared/page/entry-server.tsx',
  'shared/page/shop/client.tsx',
]

/** The new path of each file in a project. Imports follow. */
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

/** Files beside the sources that Vite and the type checker read: styles, pictures, `env.d.ts`. */
export function listPageAssets(files: ReadonlyMap<string, string>): [string, string][] {
  return [...files].filter(
    ([path]) => path.startsWith('shared/page/') && (!/\.tsx?$/.test(path) || path.endsWith('/env.d.ts')),
  )
}
