/** Bundles what `js_content` calls into dist/, because njs runs no TypeScript and finds no packages: `node build.ts`. */
import { build } from 'esbuild'

await build({
  entryPoints: ['src/*.ts'],
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'es2020', // what QuickJS has
  charset: 'utf8',
  legalComments: 'none',
  // Only `renderToString`. `react-dom/server` would also load the streaming renderer, and be twice the size.
  alias: {
    'react-dom/server': './node_modules/react-dom/cjs/react-dom-server-legacy.browser.production.js',
  },
  // Only ASSETS_DIR uses import.meta. With a constant in its place, the bundler removes it.
  define: { 'process.env.NODE_ENV': '"production"', 'import.meta.url': '""' },
})
