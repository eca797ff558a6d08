import { globSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin, type Rolldown } from 'vite'

/** The URL path of the page's files. */
const BASE = '/assets/'

const DIST = join(import.meta.dirname, '../../dist')

/** Formats that are not compressed already. */
const COMPRESSIBLE = /\.(?:css|ico|js|svg)$/

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
        rolldownOptions: {
          input: listClients(),
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

/** The entry of each page by the name of its folder. */
function listClients(): Record<string, string> {
  const paths = globSync('*/client.tsx', { cwd: import.meta.dirname })
  return Object.fromEntries(paths.map((path) => [dirname(path), join(import.meta.dirname, path)]))
}

/** Compresses the browser's files, and tells the server as `virtual:client` which ones a page loads. */
function clientFiles(): Plugin {
  const pages: Record<string, { script: string; stylesheets: string[] }> = {}
  return {
    name: 'client-files',
    sharedDuringBuild: true,
    configureServer({ config }) {
      const { input = {} } = config.environments.client?.build.rolldownOptions ?? {}
      for (const [name, path] of Object.entries(input))
        pages[name] = { script: BASE + relative(config.root, path), stylesheets: [] }
    },
    resolveId: { filter: { id: /^virtual:client$/ }, handler: () => '\0client' },
    load: {
      filter: { id: /^\0client$/ },
      handler: () => {
        const assets = Object.values(pages).flatMap(({ script, stylesheets }) => [script, ...stylesheets])
        return `export const assets = ${JSON.stringify(assets)}, pages = ${JSON.stringify(pages)}`
      },
    },
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        if (this.environment.name === 'ssr') return
        for (const file of Object.values(bundle)) {
          const { fileName } = file
          if (file.type === 'chunk' && file.isEntry)
            pages[file.name] = { script: BASE + fileName, stylesheets: listStylesheets(file, bundle) }
          if (!COMPRESSIBLE.test(fileName)) continue
          const content = file.type === 'chunk' ? file.code : file.source
          const copies = { br: brotliCompressSync(content), gz: gzipSync(content, { level: 9 }) }
          for (const [extension, source] of Object.entries(copies))
            this.emitFile({ type: 'asset', fileName: `${fileName}.${extension}`, source })
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
