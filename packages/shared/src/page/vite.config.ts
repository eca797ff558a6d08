import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin, type Rolldown } from 'vite'
import type { Asset } from '../http/assets.ts'

/** The URL path of the page's files. */
const BASE = '/assets/'

const DIST = join(import.meta.dirname, '../../dist')

/** Formats that are not compressed already. */
const COMPRESSIBLE = /\.(?:css|ico|js|svg)$/

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify<Buffer, { level: number }, Buffer>(gzip)

/** Builds the page into dist/: hashed files for the browser in assets/, and page/server.js for the server. */
export default defineConfig({
  root: import.meta.dirname,
  base: BASE,
  publicDir: false,
  plugins: [react(), clientFiles()],
  // Each file has a URL, because the content security policy does not allow fonts from a `data:` URL.
  build: { assetsDir: '', assetsInlineLimit: 0, emptyOutDir: true },
  environments: {
    client: {
      build: {
        outDir: join(DIST, 'assets'),
        modulePreload: { polyfill: false },
        // One entry per page.
        rolldownOptions: {
          input: { page: join(import.meta.dirname, 'entry-client.tsx') },
          checks: { pluginTimings: false }, // Brotli takes most of the time, as it should
        },
      },
    },
    ssr: {
      build: {
        outDir: join(DIST, 'page'),
        rolldownOptions: { input: { server: join(import.meta.dirname, 'entry-server.tsx') } },
      },
    },
  },
  builder: {}, // builds both, the browser's files first
})

/** Compresses the browser's files, and lists them for the server as `virtual:client`. */
function clientFiles(): Plugin {
  const assets: Asset[] = []
  const pages: Record<string, { script: string; stylesheets: string[] }> = {}
  return {
    name: 'client-files',
    sharedDuringBuild: true,
    configureServer({ config }) {
      for (const [name, path] of Object.entries(
        config.environments.client?.build.rolldownOptions.input ?? {},
      ))
        pages[name] = { script: BASE + relative(config.root, path), stylesheets: [] }
    },
    resolveId: { filter: { id: /^virtual:client$/ }, handler: () => '\0client' },
    load: {
      filter: { id: /^\0client$/ },
      handler: () => `export const assets = ${JSON.stringify(assets)}, pages = ${JSON.stringify(pages)}`,
    },
    generateBundle: {
      order: 'post',
      async handler(_options, bundle) {
        if (this.environment.name === 'ssr') return
        for (const file of Object.values(bundle)) {
          const url = BASE + file.fileName
          const content = Buffer.from(file.type === 'chunk' ? file.code : file.source)
          assets.push({ url, bytes: content.length })
          if (file.type === 'chunk' && file.isEntry)
            pages[file.name] = { script: url, stylesheets: listStylesheets(file, bundle) }
          if (!COMPRESSIBLE.test(url)) continue
          const [br, gz] = await Promise.all([compressBrotli(content), compressGzip(content, { level: 9 })])
          this.emitFile({ type: 'asset', fileName: `${file.fileName}.br`, source: br })
          this.emitFile({ type: 'asset', fileName: `${file.fileName}.gz`, source: gz })
        }
      },
    },
  }
}

/** The stylesheets of an entry and of its static imports. A chunk that is loaded later brings its own. */
function listStylesheets(entry: Rolldown.OutputChunk, bundle: Rolldown.OutputBundle): string[] {
  const chunks = new Set([entry])
  for (const chunk of chunks) {
    for (const name of chunk.imports) {
      const imported = bundle[name]
      if (imported?.type === 'chunk') chunks.add(imported)
    }
  }
  return [...chunks]
    .reverse()
    .flatMap((chunk) => [...(chunk.viteMetadata?.importedCss ?? [])].map((name) => BASE + name))
}
