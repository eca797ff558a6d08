/** Builds what NGINX runs: bundles the handlers into dist/app.js, and writes NGINX's configuration: `node bundle.ts`. */
import { readFile, writeFile } from 'node:fs/promises'
// <page>
import { createRequire } from 'node:module'
// </page>
import { join } from 'node:path'
import { build } from 'esbuild'
// <page>
import { createBuilder } from 'vite'

// </page>

const ROOT = import.meta.dirname

// <page>
/** The module with only `renderToString`. `react-dom/server` would also load the streaming renderer, and be twice the size. */
const REACT_SERVER = join(
  createRequire(import.meta.url).resolve('react-dom'),
  '../cjs/react-dom-server-legacy.browser.production.js',
)
// </page>

// <page>
const builder = await createBuilder({ configFile: join(ROOT, 'src/page/vite.config.ts') })
await builder.buildApp()
// </page>

await build({
  absWorkingDir: ROOT,
  entryPoints: ['src/entries/ROLE.ts'],
  outfile: 'dist/app.js',
  bundle: true,
  format: 'esm',
  // The language version that QuickJS supports.
  target: 'es2020',
  charset: 'utf8',
  legalComments: 'none',
  // <page>
  platform: 'node',
  alias: { 'react-dom/server': REACT_SERVER },
  // Only ASSETS_DIR uses import.meta, and NGINX serves those files itself. With a constant in its place, the bundler removes it.
  define: { 'process.env.NODE_ENV': '"production"', 'import.meta.url': '""' },
  // </page>
})

const { HOST = '127.0.0.1', PORT = '3000' } = process.env
const values: Readonly<Record<string, string>> = { HOST, PORT, ROOT }
const template = await readFile(join(ROOT, 'nginx.conf.template'), 'utf8')
const config = template.replaceAll(
  /\$\{([A-Z]+)\}/g,
  (placeholder, name: string) => values[name] ?? placeholder,
)
await writeFile(join(ROOT, 'dist/nginx.conf'), config)
