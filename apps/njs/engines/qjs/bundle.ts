import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type BuildOptions, build } from 'esbuild'

const { resolve } = createRequire(import.meta.url)

/** The module with only `renderToString`. `react-dom/server` would also load the streaming renderer, and be twice the size. */
const REACT_SERVER = join(dirname(resolve('react-dom')), 'cjs/react-dom-server-legacy.browser.production.js')

/**
 * Bundles an entry file into one module for `js_import`, as QuickJS runs it.
 * @param options replace those of QuickJS
 */
export async function bundle(entry: string, options: BuildOptions = {}): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'es2020',
    charset: 'utf8',
    legalComments: 'none',
    alias: { 'react-dom/server': REACT_SERVER },
    // Only ASSETS_DIR uses import.meta. With a constant in its place, the bundler removes it.
    define: { 'process.env.NODE_ENV': '"production"', 'import.meta.url': '""' },
    ...options,
  })
  return outputFiles?.map(({ text }) => text).join('') ?? ''
}
