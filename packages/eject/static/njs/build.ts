/** Bundles what `js_content` calls into dist/, because njs runs no TypeScript and finds no packages: `node build.ts`. */
import { build } from 'esbuild'

await build({
  entryPoints: ['src/{{role}}.ts'],
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  target: 'es2020', // what QuickJS has
  charset: 'utf8',
  legalComments: 'none',
})
