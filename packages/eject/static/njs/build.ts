/** Bundles what `js_content` calls into dist/, because njs runs no TypeScript and finds no packages: `node build.ts`. */
import { build } from 'esbuild'

await build({
  entryPoints: ['src/*.ts'],
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  platform: 'node', // njs has modules of the same names, such as crypto
  target: 'es2020', // what QuickJS has
  charset: 'utf8',
  legalComments: 'none',
})
