import type { App } from '@startgrid/grid/apps.ts'

/** The files that build the page, and those that browsers and the server load. */
export const PAGE_ROOTS = ['src/page/vite.config.ts', 'src/page/entry-server.tsx', 'src/page/shop/client.tsx']

/** The files of an app and of `packages/shared` by their paths in a project. What only tests use is in `test/`, and the page, which people edit, in `src/`. */
export function moveFiles({ framework }: App, tracked: ReadonlyMap<string, string>): Map<string, string> {
  const move = (path: string) =>
    path
      .replace(/^packages\/shared\/src\/testing\//, 'test/suite/')
      .replace(/^packages\/shared\/src\/page\//, 'src/page/')
      .replace(/^packages\/shared\/src\//, 'shared/')
      .replace(`apps/${framework}/`, '')
      .replace(/^fixtures\//, 'test/fixtures/')
  return new Map([...tracked].map(([path, text]) => [move(path), text.replaceAll('#shared/page/', '#page/')]))
}

/** Files beside the sources that Vite and the type checker read: styles, pictures, `env.d.ts`. The README of the project has that of the page. */
export function listPageAssets(files: ReadonlyMap<string, string>): [string, string][] {
  return [...files].filter(
    ([path]) => path.startsWith('src/page/') && (!/\.(?:tsx?|md)$/.test(path) || path.endsWith('/env.d.ts')),
  )
}
